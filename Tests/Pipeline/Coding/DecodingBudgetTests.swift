import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct DecodingBudgetTests {
    /// Runs `body` on a thread of its own.
    private func thread(_ body: @escaping @Sendable () -> Void) {
        Thread.detachNewThread(body)
    }

    /// Waits until `count` threads wait for memory: a thread on its way into a condition tells nobody.
    private func wait(in budget: DecodingBudget, for count: Int) async {
        while budget.waitingCount != count { await pause() }
    }

    @Test func letsOneWaitForTheOtherWhenBothAreTooMuch() async {
        let budget = DecodingBudget(limit: 100)
        let events = Recorder<String>()
        let returns = Recorder<Void>()
        let mayEnd = DispatchSemaphore(value: 0)
        thread {
            try? budget.holding(70) {
                events.record("first begins")
                mayEnd.wait()
                events.record("first ends")
            }
            returns.record(())
        }
        await events.waitFor(count: 1)
        thread {
            try? budget.holding(40) { events.record("second begins") }
            returns.record(())
        }
        await wait(in: budget, for: 1)
        #expect(budget.heldBytes == 70)
        mayEnd.signal()
        await events.waitFor(count: 3)
        #expect(events.events == ["first begins", "first ends", "second begins"])
        await returns.waitFor(count: 2)
        #expect(budget.heldBytes == 0)
    }

    @Test func letsThoseWorkTogetherWhoHaveRoom() async {
        let budget = DecodingBudget(limit: 100)
        let events = Recorder<Int>()
        let returns = Recorder<Void>()
        let mayEnd = DispatchSemaphore(value: 0)
        for bytes in [30, 30, 40] {
            thread {
                try? budget.holding(bytes) {
                    events.record(bytes)
                    mayEnd.wait()
                }
                returns.record(())
            }
        }
        await events.waitFor(count: 3)
        #expect(budget.heldBytes == 100)
        for _ in 0..<3 { mayEnd.signal() }
        await returns.waitFor(count: 3)
        #expect(budget.heldBytes == 0)
    }

    @Test func decodesWhatIsLargerThanTheWholeAlone() async {
        let budget = DecodingBudget(limit: 100)
        let events = Recorder<String>()
        let mayEnd = DispatchSemaphore(value: 0)
        thread {
            try? budget.holding(1000) {
                events.record("large")
                mayEnd.wait()
            }
        }
        await events.waitFor(count: 1)
        thread { try? budget.holding(1) { events.record("small") } }
        await wait(in: budget, for: 1)
        #expect(!budget.takeIfFree(1))
        mayEnd.signal()
        await events.waitFor(count: 2)
        #expect(events.events == ["large", "small"])
    }

    @Test func letsThoseGoOnWhoHaveRoomInALargerLimit() async {
        let budget = DecodingBudget(limit: 100)
        let events = Recorder<String>()
        let returns = Recorder<Void>()
        let mayEnd = DispatchSemaphore(value: 0)
        thread {
            try? budget.holding(70) {
                events.record("first")
                mayEnd.wait()
            }
            returns.record(())
        }
        await events.waitFor(count: 1)
        thread {
            try? budget.holding(60) { events.record("second") }
            returns.record(())
        }
        await wait(in: budget, for: 1)
        budget.limit = 130
        await events.waitFor(count: 2)
        mayEnd.signal()
        await returns.waitFor(count: 2)
        #expect(budget.heldBytes == 0)
    }

    @Test func waitsNotForItself() async {
        let budget = DecodingBudget(limit: 100)
        let events = Recorder<Int>()
        thread {
            try? budget.holding(80) {
                events.record(try budget.holding(80) { budget.heldBytes })
            }
        }
        #expect(await events.waitFor(count: 1) == [80])
    }

    @Test func holdsUpNoTask() async throws {
        let budget = DecodingBudget(limit: 100)
        let events = Recorder<Int>()
        let returns = Recorder<Void>()
        let mayEnd = DispatchSemaphore(value: 0)
        thread {
            try? budget.holding(80) {
                events.record(0)
                mayEnd.wait()
            }
            returns.record(())
        }
        await events.waitFor(count: 1)
        #expect(try budget.holding(80) { budget.heldBytes } == 160)
        mayEnd.signal()
        await returns.waitFor(count: 1)
        #expect(budget.heldBytes == 0)
    }

    /// Whoever is stopped leaves the line, and those behind him move up.
    @Test func letsGoOfWhoIsStoppedWhileHeWaits() async {
        let budget = DecodingBudget(limit: 100)
        let events = Recorder<String>()
        let returns = Recorder<Void>()
        let mayEnd = DispatchSemaphore(value: 0)
        thread {
            try? budget.holding(70) {
                events.record("first")
                mayEnd.wait()
            }
            returns.record(())
        }
        await events.waitFor(count: 1)
        let stop = DecodingStop()
        thread {
            do {
                try stop.watching { try budget.holding(90) { events.record("begins") } }
            } catch {
                events.record("stopped")
            }
            returns.record(())
        }
        await wait(in: budget, for: 1)
        #expect(stop.waitsForMemory)
        thread {
            try? budget.holding(20) { events.record("small") }
            returns.record(())
        }
        await wait(in: budget, for: 2)
        stop.give()
        // What a stop does to the budget of the process.
        budget.wake()
        await events.waitFor(count: 3)
        #expect(Set(events.events) == ["first", "stopped", "small"])
        #expect(!stop.waitsForMemory)
        mayEnd.signal()
        await returns.waitFor(count: 3)
        #expect(budget.heldBytes == 0 && budget.waitingCount == 0)
    }

    @Test func doesNotCountWhatIsSmall() throws {
        let budget = DecodingBudget(limit: 100, least: 10)
        #expect(try budget.holding(9) { budget.heldBytes } == 0)
    }

    @Test func givesTheBudgetOfTheProcessAQuarterOfItsMemory() {
        #expect(DecodingBudget.shared.limit == Int(MemoryLimit().bytes / 4))
    }

    /// Images that are made of each other, on more threads than there is room for. In a process of its own:
    /// other tests would have no room for the pictures that they show of progressive files.
    @Test func deadlocksNotOverImagesInImages() async {
        await #expect(processExitsWith: .success) {
            // Each takes more than what is too little to be waited for.
            let data = PNGFixture.data(.gradient(width: 1600, height: 1200), as: .rgba16)
            DecodingBudget.shared.limit = 40 << 20
            let whole = CGRect(x: 0, y: 0, width: 1600, height: 1200)
            let layout = PhotoLayout(
                size: whole.size, slots: [.init(rect: whole), .init(rect: whole)])
            func composed(_ photos: [Image]) -> Image {
                ImageComposition(layout: layout, photos: photos).image
            }
            // All threads need this one, and each one of its own.
            let common = composed([try Image.decoding(data)])
            let done = Recorder<Int>()
            for _ in 0..<8 {
                let image = composed([common, composed([try Image.decoding(data), common])])
                Thread.detachNewThread {
                    done.record((try? image.bitmap().size.width) ?? 0)
                }
            }
            #expect(await done.waitFor(count: 8) == [Int](repeating: 1600, count: 8))
            // The threads may not have ended yet.
            ProgramEnd.skipsDestruction()
        }
    }
}

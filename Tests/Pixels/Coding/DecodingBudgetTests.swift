import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct DecodingBudgetTests {
    private let budget = DecodingBudget(limit: 100)
    private let events = Recorder<String>()
    private let returns = Recorder<Void>()
    private let mayEnd = DispatchSemaphore(value: 0)

    /// Holds `bytes` on a thread of its own, and with `waits` until the end is signalled.
    private func hold(_ bytes: Int, _ name: String, waits: Bool = false) {
        Thread.detachNewThread { [budget, events, returns, mayEnd] in
            try? budget.holding(bytes) {
                events.record(name)
                guard waits else { return }
                mayEnd.wait()
                events.record("\(name) ends")
            }
            returns.record(())
        }
    }

    /// The same, and returns when it holds them.
    private func holdFirst(_ bytes: Int, _ name: String = "first") async {
        hold(bytes, name, waits: true)
        await events.waitFor(count: 1)
    }

    /// Lets a thread end, and waits until `count` have returned.
    private func end(count: Int) async {
        mayEnd.signal()
        await returns.waitFor(count: count)
    }

    @Test func letsOneWaitForTheOtherWhenBothAreTooMuch() async {
        await holdFirst(70)
        hold(40, "second")
        await budget.until(waiters: 1)
        #expect(budget.heldBytes == 70)
        await end(count: 2)
        #expect(events.events == ["first", "first ends", "second"])
        #expect(budget.heldBytes == 0)
    }

    @Test func letsThoseWorkTogetherWhoHaveRoom() async {
        for (name, bytes) in [("first", 30), ("second", 30), ("third", 40)] {
            hold(bytes, name, waits: true)
        }
        await events.waitFor(count: 3)
        #expect(budget.heldBytes == 100)
        for count in 1...3 { await end(count: count) }
        #expect(budget.heldBytes == 0)
    }

    @Test func decodesWhatIsLargerThanTheWholeAlone() async {
        await holdFirst(1000, "large")
        hold(1, "small")
        await budget.until(waiters: 1)
        #expect(!budget.takeIfFree(1))
        await end(count: 2)
        #expect(events.events == ["large", "large ends", "small"])
    }

    @Test func letsThoseGoOnWhoHaveRoomInALargerLimit() async {
        await holdFirst(70)
        hold(60, "second")
        await budget.until(waiters: 1)
        budget.limit = 130
        await events.wait { $0.contains("second") }
        await end(count: 2)
        #expect(budget.heldBytes == 0)
    }

    @Test func waitsNotForItself() async {
        let held = Recorder<Int>()
        Thread.detachNewThread { [budget] in
            try? budget.holding(80) { held.record(try budget.holding(80) { budget.heldBytes }) }
        }
        #expect(await held.waitFor(count: 1) == [80])
    }

    @Test func holdsUpNoTask() async throws {
        await holdFirst(80)
        #expect(try budget.holding(80) { budget.heldBytes } == 160)
        await end(count: 1)
        #expect(budget.heldBytes == 0)
    }

    /// Whoever is stopped leaves the line, and those behind him move up.
    @Test func letsGoOfWhoIsStoppedWhileHeWaits() async {
        await holdFirst(70)
        let stop = DecodingStop()
        Thread.detachNewThread { [budget, events, returns] in
            do {
                try stop.watching { try budget.holding(90) { events.record("begins") } }
            } catch {
                events.record("stopped")
            }
            returns.record(())
        }
        await budget.until(waiters: 1)
        #expect(stop.waitsForMemory)
        hold(20, "small")
        await budget.until(waiters: 2)
        stop.give()
        // What a stop does to the budget of the process.
        budget.wake()
        await returns.waitFor(count: 2)
        #expect(Set(events.events) == ["first", "stopped", "small"])
        #expect(!stop.waitsForMemory)
        await end(count: 3)
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
                Thread.detachNewThread { done.record((try? image.bitmap().size.width) ?? 0) }
            }
            #expect(await done.waitFor(count: 8) == [Int](repeating: 1600, count: 8))
            // The threads may not have ended yet.
            ProgramEnd.skipsDestruction()
        }
    }
}

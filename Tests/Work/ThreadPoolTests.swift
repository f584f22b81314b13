import Foundation
import HalcyonTestKit
import HalcyonWork
import Synchronization
import Testing

struct ThreadPoolTests {
    @Test func asManyJobsRunAtOnceAsThePoolIsWide() async throws {
        let pool = ThreadPool(name: "test", width: 3)
        let running = Recorder<Int>()
        let mayEnd = DispatchSemaphore(value: 0)
        let ended = Recorder<Int>()
        for job in 0..<5 {
            pool.submit {
                running.record(job)
                mayEnd.wait()
                ended.record(job)
            }
        }
        await running.waitFor(count: 3)
        #expect(running.events.sorted() == [0, 1, 2])
        mayEnd.signal()
        await running.waitFor(count: 4)
        #expect(running.count == 4)
        for _ in 0..<4 { mayEnd.signal() }
        await ended.waitFor(count: 5)
    }

    @Test func aThreadThatIsLentLetsOneMoreJobRun() async {
        let pool = ThreadPool(name: "test", width: 1)
        let order = Recorder<String>()
        let mayEnd = DispatchSemaphore(value: 0)
        pool.submit {
            let loan = ThreadPool.lendThread()
            order.record("lent \(loan != nil)")
            mayEnd.wait()
            loan?.end()
        }
        pool.submit { order.record("other") }
        #expect(await order.waitFor(count: 2).sorted() == ["lent true", "other"])
        mayEnd.signal()
        // All jobs are done, whichever threads end.
        for number in 0..<500 {
            pool.submit {
                let loan = ThreadPool.lendThread()
                order.record("\(number)")
                loan?.end()
            }
        }
        #expect(Set(await order.waitFor(count: 502)).count == 502)
        #expect(ThreadPool.lendThread() == nil, "a thread of no pool")
    }

    @Test func jobsBeginInTheOrderTheyWereSubmitted() async {
        let pool = ThreadPool(name: "test", width: 1)
        let order = Recorder<Int>()
        for job in 0..<100 { pool.submit { order.record(job) } }
        #expect(await order.waitFor(count: 100) == Array(0..<100))
    }

    @Test func theFirstJobThatAJobSubmitsIsDoneNextByTheSameThread() async {
        let pool = ThreadPool(name: "test", width: 1)
        let order = Recorder<String>()
        let mayBegin = DispatchSemaphore(value: 0)
        pool.submit { mayBegin.wait() }
        pool.submit {
            order.record("a")
            pool.submit {
                order.record("a1")
                pool.submit { order.record("a1x") }
            }
            pool.submit { order.record("a2") }
        }
        pool.submit { order.record("b") }
        mayBegin.signal()
        #expect(await order.waitFor(count: 5) == ["a", "a1", "b", "a2", "a1x"])
    }

    @Test func jobsThatGiveBackGoBeforeThoseInTheLineInTheirOwnOrder() async {
        let pool = ThreadPool(name: "test", width: 1)
        let order = Recorder<String>()
        let mayBegin = DispatchSemaphore(value: 0)
        pool.submit { mayBegin.wait() }
        for name in ["a", "b"] { pool.submit { order.record(name) } }
        for name in ["x", "y"] { pool.submit(isFirst: true) { order.record(name) } }
        mayBegin.signal()
        #expect(await order.waitFor(count: 4) == ["x", "y", "a", "b"])
    }

    @Test func valuesAndErrorsComeBack() async throws {
        struct Failure: Error {}
        let pool = ThreadPool(name: "test", width: 2)
        #expect(await pool.run { 7 } == 7)
        await #expect(throws: Failure.self) { try await pool.run { throw Failure() } }
    }

    @Test func theThreadGivesBackWhatIsItsOwnAfterEachJob() async {
        let after = Recorder<Void>()
        let pool = ThreadPool(name: "test", width: 2) { after.record(()) }
        for _ in 0..<10 { pool.submit { pool.submit {} } }
        await after.waitFor(count: 20)
        #expect(after.count == 20)
    }
}

struct OneShotTests {
    @Test func theFirstValueCounts() async {
        let place = OneShot<Int>()
        #expect(place.give(1) && !place.give(2))
        #expect(await place.value == 1)
        #expect(!place.give(3))
    }

    @Test func aValueThatComesLaterIsWaitedFor() async {
        let place = OneShot<Int>()
        let waiting = Task.immediate { await place.value }
        #expect(place.give(5))
        #expect(await waiting.value == 5)
    }

    @Test func whatIsToFollowFollowsOnce() {
        let place = OneShot<Int>()
        let events = Recorder<String>()
        place.whenGiven { _ in events.record("early") }
        #expect(events.count == 0)
        place.give(1)
        place.give(2)
        place.whenGiven { _ in events.record("late") }
        #expect(events.events == ["early", "late"])
    }

    @Test func ofManyWhoGiveOneIsFirst() async {
        for _ in 0..<200 {
            let place = OneShot<Int>()
            async let value = place.value
            let firsts = await withTaskGroup(of: Int.self) { group in
                for giver in 0..<8 {
                    group.addTask { place.give(giver) ? giver : -1 }
                }
                return await group.reduce(into: [Int]()) { if $1 >= 0 { $0.append($1) } }
            }
            #expect(await [value] == firsts)
        }
    }
}

@Suite struct GateTests {
    @Test func letsEverybodyThroughOnceItIsOpen() async throws {
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { try await gate.wait() } }
            await gate.waitForWaiters(50)
            #expect(!gate.isOpen)
            gate.open()
            gate.open()
            try await group.waitForAll()
        }
        try await gate.wait()
        #expect(gate.isOpen && gate.waiterCount == 0)
    }

    @Test func endsTheWaitOfACancelledTask() async {
        let gate = Gate()
        let task = Task { try await gate.wait() }
        await gate.waitForWaiters()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(gate.waiterCount == 0 && !gate.isOpen)
    }

    @Test func throwsWhenTheTaskWasCancelledBefore() async {
        let gate = Gate()
        let start = Gate()
        let task = Task {
            // Ends by cancellation, which is what is waited for.
            try? await start.wait()
            try await gate.wait()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

@Suite struct RecorderTests {
    @Test func recordsEventsOfManyThreads() async {
        let recorder = Recorder<Int>()
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<100 { group.addTask { recorder.record(index) } }
            let events = await recorder.waitFor(count: 100)
            #expect(Set(events) == Set(0..<100))
        }
        #expect(await recorder.wait { $0.contains(99) }.count == 100)
        recorder.removeAll()
        #expect(recorder.events.isEmpty)
    }
}

@Suite struct ManualClockTests {
    @Test func wakesSleepersOnlyWhenTheirTimeHasCome() async throws {
        let clock = ManualClock()
        let woken = Recorder<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seconds in [3, 1, 2] {
                group.addTask {
                    try await clock.sleep(for: .seconds(seconds))
                    woken.record(seconds)
                }
            }
            await clock.waitForSleepers(3)
            clock.advance(by: .milliseconds(999))
            #expect(clock.sleeperCount == 3)
            clock.advance(by: .milliseconds(1))
            #expect(clock.sleeperCount == 2)
            #expect(await woken.waitFor(count: 1) == [1])
            #expect(clock.advanceToNextDeadline() == .seconds(1))
            #expect(await woken.waitFor(count: 2) == [1, 2])
            clock.advance(by: .seconds(10))
            try await group.waitForAll()
        }
        #expect(woken.events == [1, 2, 3])
        #expect(clock.now.offset == .seconds(12) && clock.advanceToNextDeadline() == nil)
    }

    @Test func doesNotSleepUntilAPastTime() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(1))
        try await clock.sleep(until: ManualClock.Instant(offset: .seconds(1)))
        #expect(clock.sleeperCount == 0)
    }

    @Test func wakesACancelledSleeperWithAnError() async {
        let clock = ManualClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }
}

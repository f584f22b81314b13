import HalcyonTestKit
import Testing

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

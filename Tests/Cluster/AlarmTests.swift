import Foundation
import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import NIOPosix
import Testing

/// What is done at a time, by a clock that is moved by hand.
@Suite struct AlarmTests {
    private let clock = ManualClock()
    private let calls = Recorder<String>()

    private func alarm(after duration: Duration, _ name: String) -> Alarm {
        clock.time.alarm(
            at: clock.time.now + duration, on: MultiThreadedEventLoopGroup.singleton.any()
        ) { [calls] in calls.record(name) }
    }

    @Test func anAlarmGoesOffWhenTheClockReachesItsTime() async {
        _ = alarm(after: .seconds(2), "two")
        _ = alarm(after: .seconds(1), "one")
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        #expect(await calls.waitFor(count: 1) == ["one"])
        clock.advance(by: .seconds(1))
        #expect(await calls.waitFor(count: 2) == ["one", "two"])
    }

    @Test func anAlarmThatIsCancelledDoesNotGoOff() async {
        let cancelled = alarm(after: .seconds(1), "cancelled")
        await clock.waitForSleepers()
        cancelled.cancel()
        _ = alarm(after: .seconds(1), "kept")
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await calls.waitFor(count: 1) == ["kept"])
    }
}

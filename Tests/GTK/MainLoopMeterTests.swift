import Foundation
import HalcyonGTKTestKit
import Testing

@testable import HalcyonGTK

@MainActor @Suite(.serialized, .timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct MainLoopMeterTests {
    @Test func aTurnIsAsLongAsTheWorkInIt() async {
        MainLoopMeter.start()
        // A turn of its own, which is measured from its beginning.
        await nextTurn()
        let begin = processorTime()
        while processorTime() - begin < 0.02 {}
        await nextTurn()
        #expect(MainLoopMeter.mostProcessorTime >= .milliseconds(20))
        #expect(MainLoopMeter.longestTurn >= .milliseconds(20))
        #expect(MainLoopMeter.mostActorTime >= .milliseconds(20))
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

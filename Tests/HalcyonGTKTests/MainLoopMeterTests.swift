import Foundation
import HalcyonGTKTestKit
import Testing

@testable import HalcyonGTK

@MainActor @Suite(.serialized, .enabled(if: TestDisplay.isAvailable)) struct MainLoopMeterTests {
    @Test func aTurnIsAsLongAsTheWorkInIt() async {
        MainLoopMeter.start()
        // A turn of its own, which nothing that ran before is part of.
        await Task.detached {}.value
        let begin = processorTime()
        while processorTime() - begin < 0.02 {}
        await Task.detached {}.value
        #expect(MainLoopMeter.mostProcessorTime >= .milliseconds(20))
        #expect(MainLoopMeter.longestTurn >= .milliseconds(20))
    }

    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

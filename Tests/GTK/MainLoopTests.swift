import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct MainLoopTests {
    @Test func theMainActorRunsOnTheMainThread() async {
        #expect(Thread.isMainThread)
        await Task.detached {}.value
        #expect(Thread.isMainThread)
    }

    @Test func aThousandSleepsEndInTheMainLoop() async throws {
        let woken = Recorder<Bool>()
        for _ in 0..<1000 {
            Task { @MainActor in
                try await Task.sleep(for: .microseconds(50))
                woken.record(Thread.isMainThread)
            }
        }
        #expect(await woken.waitFor(count: 1000).allSatisfy { $0 })
    }

    @Test func aThousandContinuationsFromOtherThreadsEndInTheMainLoop() async {
        for number in 0..<1000 {
            let result = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: number) }
            }
            #expect(result == number && Thread.isMainThread)
        }
    }

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

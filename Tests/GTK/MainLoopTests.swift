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
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct SharedWorkTests {
    @Test func manyWhoAskMeanwhileShareOneRun() async throws {
        let shared = SharedWork<String, Int>()
        let gate = Gate()
        let runs = Locked(0)
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    await shared.value(for: "key", isWanted: nil) { _ in
                        runs.withLock { $0 += 1 }
                        // Only cancellation ends the wait early, and nobody cancels.
                        try? await gate.wait()
                        return 7
                    }
                }
            }
            await gate.waitForWaiters(1)
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(values == Array(repeating: 7, count: 100))
        #expect(runs.value >= 1)
    }

    @Test func afterTheEndItRunsAnew() async {
        let shared = SharedWork<String, Int>()
        #expect(await shared.value(for: "key", isWanted: nil) { _ in 1 } == 1)
        #expect(await shared.value(for: "key", isWanted: nil) { _ in 2 } == 2)
    }

    @Test func itIsWantedAsLongAsOneCallerWantsIt() async throws {
        let shared = SharedWork<String, Bool>()
        let started = Gate()
        let mayGoOn = Gate()
        async let first = shared.value(for: "key", isWanted: { false }) { isWanted in
            started.open()
            try? await mayGoOn.wait()
            return isWanted()
        }
        try await started.wait()
        async let second = shared.value(for: "key", isWanted: { true }) { _ in
            Issue.record("the second caller must share the first one's work")
            return false
        }
        // Nobody wants it until the second caller has joined.
        while !shared.isWanted("key") { await pause() }
        mayGoOn.open()
        #expect(await first)
        #expect(await second)
    }
}

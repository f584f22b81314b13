import Foundation
import Testing

@testable import Halcyon

/// Thousands of random schedules of calls at a manager: whatever happens meanwhile, each call ends once,
/// with its own image or with an error it may have, and nothing is left behind.
///
/// `HALCYON_SCHEDULE=17 swift test --filter RandomScheduleTests` runs the schedule of seed 17 again and
/// again.
@Suite(.timeLimit(.minutes(20)))
struct RandomScheduleTests {
    static let variable = "HALCYON_SCHEDULE"

    /// The schedules that are run one after the other in one world.
    struct Batch: Sendable, CustomTestStringConvertible {
        var first: UInt64
        var count: Int
        var repeatsFirst = false

        var seeds: [UInt64] { (0..<count).map { repeatsFirst ? first : first + UInt64($0) } }

        var testDescription: String { "\(first)…" }
    }

    static let batches: [Batch] = {
        if let seed = ProcessInfo.processInfo.environment[variable].flatMap({ UInt64($0) }) {
            return (0..<4).map { _ in Batch(first: seed, count: 250, repeatsFirst: true) }
        }
        return (0..<24).map { Batch(first: $0 * 100, count: 100) }
    }()

    /// Upstream: testRetrieveImageContinuationMisuseReproduction,
    /// testRetrieveImageRaceConditionSpecific
    @Test(arguments: batches) func everyCallEndsOnceAndLeavesNothingBehind(batch: Batch)
        async throws
    {
        let world = try ScheduleWorld()
        for seed in batch.seeds where !Task.isCancelled {
            await world.run(Schedule(seed: seed))
        }
        await world.finish()
    }
}

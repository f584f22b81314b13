import Foundation
import Testing

@testable import Halcyon

@Suite struct PrefetchPlanTests {
    private func plan(_ count: Int) -> PrefetchPlan {
        PrefetchPlan(
            (0..<count).map {
                .provider(RawImageDataProvider(data: Data(), cacheKey: "\($0)"))
            })
    }

    private let failure = KingfisherError.imageSettingError(reason: .emptySource)

    @Test func beginsNoMoreThanTheLimitAndOneForEachThatIsDone() {
        var plan = plan(4)
        plan.limit = 2
        let begins = [
            plan.start().begins, plan.settle(1, as: .completed).begins,
            plan.settle(0, as: .skipped).begins, plan.settle(2, as: .failed(failure)).begins,
        ]
        #expect(begins == [[0, 1], [2], [3], []])
        let end = plan.settle(3, as: .completed)
        #expect(end.completion?.completed.map(\.cacheKey) == ["1", "3"])
        #expect(end.completion?.skipped.map(\.cacheKey) == ["0"])
        #expect(end.completion?.failed.map(\.cacheKey) == ["2"])
        #expect(plan.failures.map(\.source.cacheKey) == ["2"])
        #expect(plan.failures.map(\.error.errorCode) == [5001])
    }

    @Test func aChangedLimitCountsFromTheNextThatIsDone() {
        var plan = plan(5)
        plan.limit = 1
        let first = plan.start().begins
        #expect(first == [0])
        plan.limit = 3
        let next = plan.settle(0, as: .completed).begins
        #expect(next == [1, 2, 3])
    }

    @Test func completesAtOnceWithoutSources() {
        var plan = plan(0)
        let completion = plan.start().completion
        #expect(completion?.count == 0)
        #expect(plan.isFinished)
    }

    /// Defect: D-18
    @Test func afterAStopWhatIsNotDoneHasFailed() {
        var plan = plan(4)
        plan.limit = 2
        _ = plan.start()
        let stops = [plan.stop(), plan.stop()]
        #expect(stops == [true, false])
        let first = plan.settle(0, as: .skipped)
        #expect(first.begins == [])
        #expect(first.completion == nil)
        #expect(first.progress?.failed.map(\.cacheKey) == ["0"])
        let end = plan.settle(1, as: .completed)
        #expect(end.completion?.completed.map(\.cacheKey) == ["1"])
        #expect(end.completion?.failed.map(\.cacheKey) == ["0", "2", "3"])
        #expect(plan.failures.map(\.source.cacheKey) == ["0", "2", "3"])
        #expect(plan.failures.allSatisfy { $0.error.isCancelled })
    }

    @Test func aStopAfterTheEndChangesNothing() {
        var plan = plan(1)
        _ = plan.start()
        _ = plan.settle(0, as: .completed)
        let stops = plan.stop()
        #expect(!stops)
    }

    @Test func misuseCompletesWithFailures() {
        var stopped = plan(2)
        _ = stopped.stop()
        let step = stopped.start()
        #expect(step.misuse != nil)
        #expect(step.completion?.failed.count == 2)

        var unlimited = plan(2)
        unlimited.limit = 0
        let end = unlimited.start().completion
        #expect(end?.failed.count == 2)
    }

    @Test func aSecondStartBeginsAndCompletesNothing() {
        var plan = plan(1)
        _ = plan.start()
        let again = plan.start()
        #expect(again.misuse != nil)
        #expect(again.begins == [])
        #expect(again.completion == nil)
        let end = plan.settle(0, as: .completed).completion
        #expect(end != nil)
        let late = plan.start().completion
        #expect(late == nil)
    }
}

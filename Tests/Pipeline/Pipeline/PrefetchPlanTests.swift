import Foundation
import HalcyonTestKit
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

    /// The places of the sources of a list, in the order they were done.
    private func indices(_ list: PrefetchPlan.Done.List, of plan: PrefetchPlan) -> [Int] {
        plan.done.filter { $0.list == list }.map(\.index)
    }

    @Test func beginsNoMoreThanTheLimitAndOneForEachThatIsDone() {
        var plan = plan(4)
        plan.limit = 2
        let begins = [
            plan.start().begins, plan.settle(1, as: .completed).begins,
            plan.settle(0, as: .skipped).begins, plan.settle(2, as: .failed(failure)).begins,
        ]
        #expect(begins == [[0, 1], [2], [3], []])
        let end = plan.settle(3, as: .completed)
        #expect(end.isEnd && end.hasProgress && plan.progressCount == 4)
        #expect(indices(.completed, of: plan) == [1, 3])
        #expect(indices(.skipped, of: plan) == [0] && indices(.failed, of: plan) == [2])
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

    /// Upstream: testPrefetchWithWrongInitParameters
    @Test func completesAtOnceWithoutSources() {
        var plan = plan(0)
        let step = plan.start()
        #expect(step.isEnd && !step.hasProgress && plan.done.isEmpty && plan.isFinished)
    }

    /// Defect: D-18
    @Test func afterAStopWhatIsNotDoneHasFailed() {
        var plan = plan(4)
        plan.limit = 2
        _ = plan.start()
        let stops = [plan.stop(), plan.stop()]
        #expect(stops == [true, false])
        let first = plan.settle(0, as: .skipped)
        #expect(first.begins == [] && !first.isEnd && first.hasProgress)
        #expect(plan.done == [PrefetchPlan.Done(index: 0, list: .failed)])
        let end = plan.settle(1, as: .completed)
        #expect(end.isEnd && indices(.completed, of: plan) == [1])
        #expect(indices(.failed, of: plan) == [0, 2, 3])
        #expect(plan.progressCount == 2, "what was never begun with is no progress")
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
        #expect(step.misuse != nil && step.isEnd && !step.hasProgress)
        #expect(indices(.failed, of: stopped) == [0, 1])

        var unlimited = plan(2)
        unlimited.limit = 0
        let end = unlimited.start()
        #expect(end.isEnd && indices(.failed, of: unlimited) == [0, 1])
    }

    @Test func aSecondStartBeginsAndCompletesNothing() {
        var plan = plan(1)
        _ = plan.start()
        let again = plan.start()
        #expect(again.misuse != nil && again.begins == [] && !again.isEnd)
        let ends = [plan.settle(0, as: .completed).isEnd, plan.start().isEnd]
        #expect(ends == [true, false])
    }

    @Test func listsGrowInPlaceFromReportToReport() {
        let places = Recorder<UInt>()
        let counts = Recorder<Int>()
        let lists = PrefetchLists<Source>(
            progress: { _, _, completed in
                places.record(
                    completed.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) })
                counts.record(completed.count)
            }, completion: nil, element: { $0 })
        for source in plan(1000).sources { lists.report([(source, .completed)], isEnd: false) }
        #expect(counts.events == Array(1...1000))
        let moves = zip(places.events, places.events.dropFirst()).filter { $0 != $1 }
        #expect(moves.count <= 12, "each time to twice the room")
    }

    @Test func aListThatIsKeptStaysAsItWas() {
        let kept = Recorder<[String]>()
        let ends = Recorder<[String]>()
        let lists = PrefetchLists<String>(
            progress: { skipped, _, _ in kept.record(skipped) },
            completion: { skipped, failed, _ in ends.record(skipped + failed) },
            element: { $0.cacheKey == "1" ? nil : $0.cacheKey })
        let sources = plan(4).sources
        for source in sources.prefix(3) { lists.report([(source, .skipped)], isEnd: false) }
        lists.report([(sources[3], .failed)], isEnd: true)
        #expect(kept.events == [["0"], ["0"], ["0", "2"]])
        #expect(ends.events == [["0", "2", "3"]])
    }
}

import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct SettledDownloadsTests {
    private typealias Settled = SettledDownloads<String, String, Int>

    @Test func withoutInterestNothingIsKept() {
        var settled = Settled()
        settled.settle(1, for: "a", of: "url")
        #expect(settled.isEmpty)
    }

    @Test func whoAskedBeforeTheEndIsServedHoweverLate() {
        var settled = Settled()
        let first = settled.begin("url")
        let second = settled.begin("url")
        settled.settle(1, for: "a", of: "url")
        settled.end(first)
        #expect(settled.value(for: "a", to: second) == 1)
        #expect(settled.value(for: "b", to: second) == nil)
        settled.end(second)
        #expect(settled.isEmpty)
    }

    @Test func whoComesWhileTheFirstAreAtWorkIsServedUntilDone() {
        var settled = Settled()
        let first = settled.begin("url")
        settled.settle(1, for: "a", of: "url")
        let second = settled.begin("url")
        settled.end(first)
        #expect(settled.value(for: "a", to: second) == 1)
        settled.end(second)
        #expect(settled.isEmpty)
    }

    @Test func whoComesLaterLoadsAnewThoughTheURLIsNeverAtRest() {
        var settled = Settled()
        var latest = settled.begin("url")
        settled.settle(1, for: "a", of: "url")
        for round in 0..<3 {
            let next = settled.begin("url")
            settled.end(latest)
            latest = next
            #expect((settled.value(for: "a", to: latest) == 1) == (round == 0))
        }
        settled.end(latest)
        #expect(settled.isEmpty)
    }

    @Test func interestInAnotherURLKeepsNothing() {
        var settled = Settled()
        let first = settled.begin("url")
        let other = settled.begin("other")
        settled.settle(1, for: "a", of: "url")
        settled.end(first)
        #expect(settled.value(for: "a", to: other) == nil)
        settled.end(other)
        #expect(settled.isEmpty)
    }

    /// A request takes the interest, looks into the cache, and then either shares or loads; a load
    /// puts its value into the cache before the interest ends.
    @Test(arguments: 0..<200)
    func underAnyScheduleNothingIsLoadedTwice(seed: Int) {
        enum Stage { case new, interested, missed, loading, done }
        struct Request {
            var stage = Stage.new
            var interest: Settled.Interest?
        }
        var random = SeededGenerator(state: UInt64(seed) + 1)
        var settled = Settled()
        var requests = [Request](repeating: Request(), count: 12)
        var isCached = false
        var isRunning = false
        var loads = 0
        while let index = requests.indices.filter({ requests[$0].stage != .done }).randomElement(
            using: &random)
        {
            var request = requests[index]
            func finish() {
                if let interest = request.interest { settled.end(interest) }
                request.stage = .done
            }
            switch request.stage {
            case .new:
                request.interest = settled.begin("url")
                request.stage = .interested
            case .interested:
                if isCached { finish() } else { request.stage = .missed }
            case .missed:
                if let interest = request.interest,
                    settled.value(for: "a", to: interest) != nil
                {
                    isCached = true
                    finish()
                } else {
                    if !isRunning { loads += 1 }
                    isRunning = true
                    request.stage = .loading
                }
            case .loading:
                if isRunning {
                    isRunning = false
                    settled.settle(1, for: "a", of: "url")
                } else {
                    isCached = true
                    finish()
                }
            case .done: break
            }
            requests[index] = request
        }
        #expect(loads == 1)
        #expect(settled.isEmpty)
    }
}

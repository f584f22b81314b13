import HalcyonCluster
import Testing

/// When an engine that fails is let alone, and when it is tried again.
@Suite struct CircuitBreakerTests {
    /// A breaker that is shared by reference.
    private final class Breaker {
        private var breaker = CircuitBreaker()

        init() {
            breaker.failures = 3
            (breaker.pause, breaker.longestPause) = (.seconds(1), .seconds(4))
        }

        var state: CircuitBreaker.State { breaker.state }
        func admit(at now: ContinuousClock.Instant) -> Bool { breaker.admit(at: now) }
        func succeed() { breaker.succeed() }
        func fail(at now: ContinuousClock.Instant) { breaker.fail(at: now) }
        func abandon(at now: ContinuousClock.Instant) { breaker.abandon(at: now) }
    }

    private let start = ContinuousClock.now

    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private func opened() -> Breaker {
        let breaker = Breaker()
        for _ in 0..<3 {
            #expect(breaker.admit(at: start))
            breaker.fail(at: start)
        }
        return breaker
    }

    @Test func failuresWithASuccessBetweenThemChangeNothing() {
        let breaker = Breaker()
        for _ in 0..<10 {
            breaker.fail(at: start)
            breaker.fail(at: start)
            breaker.succeed()
        }
        #expect(breaker.state == .closed)
        #expect(breaker.admit(at: start))
    }

    @Test func afterFailuresInARowNobodyIsLetThroughForAWhile() {
        let breaker = opened()
        #expect(breaker.state == .open && !breaker.admit(at: at(0.999)))
        #expect(breaker.admit(at: at(1)))
    }

    @Test func whoGivesUpSaysNothingOfTheEngineAndLetsTheNextOneTry() {
        let breaker = Breaker()
        for _ in 0..<10 { breaker.abandon(at: start) }
        #expect(breaker.state == .closed)
        let opened = opened()
        #expect(opened.admit(at: at(1)))
        opened.abandon(at: at(1))
        #expect(opened.admit(at: at(1)))
        #expect(opened.state == .halfOpen)
    }

    @Test func afterThePauseOneCallTriesForAll() {
        let breaker = opened()
        #expect(breaker.admit(at: at(1)) && breaker.state == .halfOpen)
        #expect(!breaker.admit(at: at(1)) && !breaker.admit(at: at(100)))
        breaker.succeed()
        #expect(breaker.state == .closed)
        #expect(breaker.admit(at: at(1)))
    }

    @Test func eachPauseIsTwiceAsLongUpToALimit() {
        let breaker = opened()
        var now = 1.0
        for pause in [2.0, 4, 4, 4] {
            #expect(breaker.admit(at: at(now)))
            breaker.fail(at: at(now))
            #expect(!breaker.admit(at: at(now + pause - 0.001)))
            now += pause
        }
        #expect(breaker.admit(at: at(now)))
        breaker.succeed()
        for _ in 0..<3 { breaker.fail(at: at(now)) }
        #expect(!breaker.admit(at: at(now + 0.999)))
        #expect(breaker.admit(at: at(now + 1)))
    }

    @Test func callsThatBeganBeforeThePauseDoNotProlongIt() {
        let breaker = opened()
        breaker.fail(at: at(0.5))
        breaker.fail(at: at(0.9))
        #expect(breaker.admit(at: at(1)))
    }
}

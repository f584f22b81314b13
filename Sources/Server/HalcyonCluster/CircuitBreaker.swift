/// Keeps calls from an engine that fails: after some failures in a row there is a pause, then one call tries
/// whether it is back. Each pause is twice as long as the one before it, until a call succeeds.
package struct CircuitBreaker: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        case closed
        case open
        case halfOpen
    }

    private enum Phase: Hashable {
        case closed(failures: Int)
        case open(until: ContinuousClock.Instant, pause: Duration)
        case halfOpen(pause: Duration)
    }

    /// The failures in a row that begin a pause.
    package var failures = 5
    package var pause = Duration.milliseconds(500)
    package var longestPause = Duration.seconds(10)
    private var phase = Phase.closed(failures: 0)

    package init() {}

    package var state: State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// Whether a call may be made now. Each that may has to be followed by `succeed`, `fail` or `abandon`.
    package mutating func admit(at now: ContinuousClock.Instant) -> Bool {
        switch phase {
        case .closed: return true
        case .open(let until, let pause):
            guard now >= until else { return false }
            phase = .halfOpen(pause: pause)
            return true
        case .halfOpen: return false
        }
    }

    package mutating func succeed() { phase = .closed(failures: 0) }

    /// Takes note of a call that was given up here, which says nothing of the engine.
    package mutating func abandon(at now: ContinuousClock.Instant) {
        if case .halfOpen(let pause) = phase { phase = .open(until: now, pause: pause) }
    }

    /// - Returns: Whether calls went through until now and no longer do.
    @discardableResult
    package mutating func fail(at now: ContinuousClock.Instant) -> Bool {
        switch phase {
        case .closed(let count) where count + 1 >= failures:
            phase = .open(until: now + pause, pause: pause)
            return true
        case .closed(let count):
            phase = .closed(failures: count + 1)
        case .open:
            // A call that began before the pause.
            break
        case .halfOpen(let pause):
            let next = min(pause * 2, longestPause)
            phase = .open(until: now + next, pause: next)
        }
        return false
    }
}

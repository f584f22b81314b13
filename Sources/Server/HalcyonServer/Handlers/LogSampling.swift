import Synchronization

/// Lets one log line of a kind through in each second, and counts the others.
final class LogSampling: Sendable {
    private let state = Mutex((last: ContinuousClock.Instant?.none, leftOut: 0))

    /// Returns the number of lines left out since the last one; `nil` to leave this one out, too.
    func take(at now: ContinuousClock.Instant) -> Int? {
        state.withLock { state in
            if let last = state.last, now - last < .seconds(1) {
                state.leftOut += 1
                return nil
            }
            defer { state = (now, 0) }
            return state.leftOut
        }
    }
}

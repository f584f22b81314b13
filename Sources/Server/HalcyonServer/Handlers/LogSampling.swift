/// Lets one log line of a kind through in each second, and counts the others.
struct LogSampling {
    private var last: ContinuousClock.Instant?
    private var leftOut = 0

    /// Returns the number of lines left out since the last one; `nil` to leave this one out, too.
    mutating func take(at now: ContinuousClock.Instant) -> Int? {
        if let last, now - last < .seconds(1) {
            leftOut += 1
            return nil
        }
        defer { leftOut = 0 }
        last = now
        return leftOut
    }
}

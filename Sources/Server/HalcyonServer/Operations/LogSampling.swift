/// Lets one of many lines of a kind into the log in each second, and counts the others.
struct LogSampling {
    private var last: ContinuousClock.Instant?
    private var leftOut = 0

    /// How many lines were left out since the last one that was written; `nil` for a line that is left out, too.
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

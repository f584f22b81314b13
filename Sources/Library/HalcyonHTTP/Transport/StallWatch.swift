/// Tells when a transfer has stalled: no `quota` bytes more (and not the end) in the time allowed.
///
/// A mere limit on silence would let a server hold a connection forever with a byte now and then.
package struct StallWatch {
    /// 16 KiB. In 15 seconds that is a tenth of what the slowest mobile networks carry.
    package static let quota = 16 * 1024

    package let timeout: Duration
    private var received = 0
    private var start: ContinuousClock.Instant
    private var isPaused = false

    package init(timeout: Duration, now: ContinuousClock.Instant) {
        self.timeout = timeout
        start = now
    }

    /// Counts bytes that arrived.
    package mutating func receive(_ count: Int, now: ContinuousClock.Instant) {
        received += count
        if received >= Self.quota {
            received = 0
            start = now
        }
    }

    /// Stops the time, while it is not the server that is waited for.
    package mutating func pause() {
        isPaused = true
    }

    /// Starts the time again, from the beginning.
    package mutating func resume(now: ContinuousClock.Instant) {
        isPaused = false
        received = 0
        start = now
    }

    /// How long to wait until asking again; `nil` when the transfer has stalled.
    package func remaining(now: ContinuousClock.Instant) -> Duration? {
        if isPaused { return timeout }
        let rest = timeout - (now - start)
        return rest > .zero ? rest : nil
    }
}

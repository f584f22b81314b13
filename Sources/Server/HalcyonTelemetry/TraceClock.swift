package import HalcyonWork
package import Tracing

/// Times of the clock that events have as those of the day, which tracers want.
package struct TraceClock: Sendable {
    private let instant: ContinuousClock.Instant
    private let nanoseconds: UInt64

    /// The clocks as they are beside each other now: good for one request, since that of the day may be set.
    package init(_ time: TimeSource) {
        instant = time.now
        nanoseconds = DefaultTracerClock.now.nanosecondsSinceEpoch
    }

    package func time(_ time: ContinuousClock.Instant) -> DefaultTracerClock.Timestamp {
        let offset = (time - instant).nanoseconds
        return DefaultTracerClock.Timestamp(
            nanosecondsSinceEpoch: UInt64(clamping: Int64(clamping: nanoseconds) + offset))
    }
}

package import Foundation

/// The date, the time that only grows, and waits for it: by the clocks of the system, or by one that a test moves.
///
/// It is one pointer, which is `nil` for the system's clocks.
package struct TimeSource: Sendable {
    private final class Other: Sendable {
        let now: @Sendable () -> ContinuousClock.Instant
        let date: @Sendable () -> Date
        let sleep: @Sendable (_ deadline: ContinuousClock.Instant) async throws -> Void

        init(
            now: @escaping @Sendable () -> ContinuousClock.Instant,
            date: @escaping @Sendable () -> Date,
            sleep: @escaping @Sendable (ContinuousClock.Instant) async throws -> Void
        ) {
            self.now = now
            self.date = date
            self.sleep = sleep
        }
    }

    private let other: Other?

    private init() { other = nil }

    /// - Parameter sleep: Returns at the deadline, and throws when its task is cancelled before.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        date: @escaping @Sendable () -> Date,
        sleep: @escaping @Sendable (_ deadline: ContinuousClock.Instant) async throws -> Void
    ) {
        other = Other(now: now, date: date, sleep: sleep)
    }

    package static var system: TimeSource { TimeSource() }

    package var isSystem: Bool { other == nil }

    package var now: ContinuousClock.Instant { other?.now() ?? .now }

    package var date: Date { other?.date() ?? Date() }

    /// - Throws: `CancellationError` when the task is cancelled before.
    package func sleep(until deadline: ContinuousClock.Instant) async throws {
        guard let other else { return try await Task.sleep(until: deadline, clock: .continuous) }
        try await other.sleep(deadline)
    }

    /// - Throws: `CancellationError` when the task is cancelled before.
    package func sleep(for duration: Duration) async throws {
        try await sleep(until: now + duration)
    }

    /// The instant of the system's clock that is as far away as `deadline` is by this time: for those who only know
    /// that clock, such as transports.
    package func systemInstant(of deadline: ContinuousClock.Instant) -> ContinuousClock.Instant {
        isSystem ? deadline : .now + (deadline - now)
    }
}

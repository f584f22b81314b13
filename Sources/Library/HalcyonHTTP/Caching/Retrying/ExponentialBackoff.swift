package import Foundation

/// Waiting times that double with every failure in a row.
package struct ExponentialBackoff: Sendable, Hashable {
    /// Seconds after the first failure.
    package var base: TimeInterval
    /// The longest time before chance is added.
    package var limit: TimeInterval
    /// The part by which chance makes the time shorter or longer, 0 to 1. It keeps many callers
    /// from coming back at the same moment.
    package var jitter: Double

    package init(base: TimeInterval, limit: TimeInterval, jitter: Double = 0.2) {
        self.base = base.isFinite ? max(0, base) : 0
        self.limit = limit.isFinite ? max(0, limit) : 0
        self.jitter = jitter.isFinite ? min(1, max(0, jitter)) : 0
    }

    /// `min(limit, base × 2ⁿ) × (1 ± jitter)`, where `n` is the number of failures before the last.
    ///
    /// - Parameter chance: 0 to 1; 0.5 changes nothing.
    package func delay(afterFailures failures: Int, chance: Double) -> TimeInterval {
        let doublings = Double(min(1000, max(1, failures) - 1))
        let plain = base == 0 ? 0 : min(limit, base * pow(2, doublings))
        let chance = chance.isFinite ? min(1, max(0, chance)) : 0.5
        return plain * (1 + jitter * (2 * chance - 1))
    }

    /// Between attempts while a stale response is used instead of errors.
    package static let whileStaleOnError = ExponentialBackoff(base: 5, limit: 60, jitter: 0)

    /// Between revalidations in the background that failed.
    package static let backgroundRevalidation = ExponentialBackoff(base: 5, limit: 300, jitter: 0)

    /// Between requests to a server that asked for a pause without saying how long.
    package static let serverPause = ExponentialBackoff(base: 1, limit: 60)
}

public import Foundation

/// Tries again after a pause, a limited number of times.
public struct DelayRetryStrategy: RetryStrategy {
    /// How long to wait before the next attempt.
    public enum Interval: Sendable {
        /// Always as many seconds.
        case seconds(TimeInterval)
        /// The pause grows by this value each time: once, twice, three times the value.
        case accumulated(TimeInterval)
        /// The pause in seconds, computed from how often the request has been retried.
        case custom(block: @Sendable (_ retriedCount: Int) -> TimeInterval)

        /// Seconds to wait when the request has been retried `retriedCount` times.
        func timeInterval(for retriedCount: Int) -> TimeInterval {
            switch self {
            case .seconds(let interval): interval
            case .accumulated(let interval): Double(retriedCount + 1) * interval
            case .custom(let block): block(retriedCount)
            }
        }
    }

    /// How often a request is tried again at most.
    public let maxRetryCount: Int
    /// How long to wait before each further attempt.
    public let retryInterval: Interval

    public init(maxRetryCount: Int, retryInterval: Interval = .seconds(3)) {
        self.maxRetryCount = maxRetryCount
        self.retryInterval = retryInterval
    }

    /// Decides at once to stop, or after the interval to retry. Only response errors are retried.
    public func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        guard context.retriedCount < maxRetryCount, context.isWorthRetrying else {
            return retryHandler(.stop)
        }
        let interval = retryInterval.timeInterval(for: context.retriedCount)
        guard interval > 0 else { return retryHandler(.retry(userInfo: nil)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + interval) {
            retryHandler(.retry(userInfo: nil))
        }
    }
}

public import Foundation
import HalcyonWork
import Synchronization

/// What a retry strategy decides on: one request's failures so far.
///
/// One context serves all attempts of a request.
public class RetryContext: @unchecked Sendable {
    // Unchecked because the class is not final; its state is behind a mutex.

    /// The strategy's own value, which nobody but the strategy looks at.
    private struct UserInfo: @unchecked Sendable {
        let value: Any?
    }

    private struct State: Sendable {
        var error: KingfisherError
        var retriedCount = 0
        var userInfo = UserInfo(value: nil)
    }

    /// The source that was asked for.
    public let source: Source
    private let state: Mutex<State>

    /// A context whose first failure is `error`.
    public init(source: Source, error: KingfisherError) {
        self.source = source
        state = Mutex(State(error: error))
    }

    /// The failure to decide on: that of the latest attempt.
    public internal(set) var error: KingfisherError {
        get { state[\.error] }
        set { state[\.error] = newValue }
    }

    /// How often the request has been retried: 0 when the first decision is asked for.
    public var retriedCount: Int {
        get { state[\.retriedCount] }
        set { state[\.retriedCount] = newValue }
    }

    /// What the strategy gave along with its latest decision to retry.
    public internal(set) var userInfo: Any? {
        get { state.withLock { $0.userInfo }.value }
        set {
            let value = UserInfo(value: newValue)
            state.withLock { $0.userInfo = value }
        }
    }

    /// Counts a decision to retry.
    func willRetry(userInfo: Any?) {
        self.userInfo = userInfo
        retriedCount += 1
    }
}

/// What a retry strategy decides.
public enum RetryDecision: @unchecked Sendable {
    // Unchecked because of the strategy's own value, which is handed back to the strategy only.

    /// Tries again; `userInfo` is in the context when the next decision is asked for.
    case retry(userInfo: Any?)
    /// Accepts the failure.
    case stop
}

/// Decides whether, and when, a failed request is tried again.
public protocol RetryStrategy: Sendable {
    /// Calls `retryHandler` exactly once, after any wait. Cancelled requests do not ask.
    func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void)
}

extension RetryContext {
    /// Whether the failure is one that another attempt may mend: a response error, not a cancellation.
    var isWorthRetrying: Bool {
        if case .responseError = error { true } else { false }
    }
}

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

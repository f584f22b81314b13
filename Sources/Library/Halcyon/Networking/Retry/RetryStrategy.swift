public import Foundation
import Synchronization

/// The failures of one request so far, the basis of a retry decision.
///
/// One context serves all attempts of a request.
public class RetryContext: @unchecked Sendable {
    // Unchecked because the class is not final; its state is behind a mutex.

    /// The strategy's own value, used only by the strategy.
    private struct UserInfo: @unchecked Sendable {
        let value: Any?
    }

    private struct State: Sendable {
        var error: KingfisherError
        /// The end of the server's pause, according to the failure.
        var retryTime: ContinuousClock.Instant?
        var retriedCount = 0
        var userInfo = UserInfo(value: nil)
    }

    /// The requested source.
    public let source: Source
    private let state: Mutex<State>

    /// A context whose first failure is `error`.
    public init(source: Source, error: KingfisherError) {
        self.source = source
        state = Mutex(State(error: error, retryTime: error.retryTime))
    }

    /// The failure to decide on: that of the latest attempt.
    public internal(set) var error: KingfisherError {
        get { state.withLock { $0.error } }
        set {
            let retryTime = newValue.retryTime
            state.withLock {
                $0.error = newValue
                $0.retryTime = retryTime
            }
        }
    }

    /// The remaining seconds of the pause demanded by the response that failed the request
    /// (`Retry-After`), at most a day; `nil` without such a demand.
    public var retryAfter: TimeInterval? {
        state.withLock({ $0.retryTime }).map { max(0, ($0 - .now) / .seconds(1)) }
    }

    /// The number of retries so far; 0 at the first decision.
    public var retriedCount: Int {
        get { state.withLock { $0.retriedCount } }
        set { state.withLock { $0.retriedCount = newValue } }
    }

    /// The value that accompanied the strategy's latest decision to retry.
    public internal(set) var userInfo: Any? {
        get { state.withLock { $0.userInfo }.value }
        set {
            let value = UserInfo(value: newValue)
            state.withLock { $0.userInfo = value }
        }
    }

    func willRetry(userInfo: Any?) {
        let value = UserInfo(value: userInfo)
        state.withLock {
            $0.userInfo = value
            $0.retriedCount += 1
        }
    }
}

/// The decision of a retry strategy.
public enum RetryDecision: @unchecked Sendable {
    // Unchecked because of the strategy's own value, which is handed back to the strategy only.

    /// Tries again; `userInfo` is in the context at the next decision.
    case retry(userInfo: Any?)
    /// Accepts the failure.
    case stop
}

/// Decides whether, and when, a failed request is tried again.
public protocol RetryStrategy: Sendable {
    /// Calls `retryHandler` exactly once, after any wait. Not called for cancelled requests.
    func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void)
}

extension RetryContext {
    /// Whether another attempt may succeed: the failure is a response error, not a cancellation.
    var isWorthRetrying: Bool {
        if case .responseError = error { true } else { false }
    }

    /// Returns the seconds to wait for the end of the server's pause; 0 if there is none or `limit`
    /// is 0, `nil` if the pause exceeds `limit`.
    func patience(upTo limit: TimeInterval) -> TimeInterval? {
        guard limit > 0, let retryAfter else { return 0 }
        return retryAfter <= limit ? retryAfter : nil
    }
}

extension KingfisherError {
    /// The end of the server's pause, given a failure that has just occurred.
    fileprivate var retryTime: ContinuousClock.Instant? {
        if case .responseError(
            reason: .URLSessionError(ImageTransportError.pausedByServer(_, until: let end))) = self
        {
            return .now + .seconds(end.timeIntervalSinceNow)
        }
        return retryAfter(at: Date()).map { .now + .seconds($0) }
    }
}

/// Retries after a delay, a limited number of times.
public struct DelayRetryStrategy: RetryStrategy {
    /// The delay before the next attempt.
    public enum Interval: Sendable {
        /// A constant delay in seconds.
        case seconds(TimeInterval)
        /// A delay that grows by this value each time: once, twice, three times the value.
        case accumulated(TimeInterval)
        /// A delay of `base` seconds that doubles each time, up to `limit` seconds. It is randomly
        /// shortened or lengthened by a fraction of up to `jitter` (0 to 1), so that requests that
        /// failed together are not retried together.
        case exponential(base: TimeInterval, limit: TimeInterval, jitter: Double = 0.2)
        /// A delay in seconds, computed from the number of retries.
        case custom(block: @Sendable (_ retriedCount: Int) -> TimeInterval)

        func timeInterval(for retriedCount: Int) -> TimeInterval {
            switch self {
            case .seconds(let interval): interval
            case .accumulated(let interval): Double(retriedCount + 1) * interval
            case .exponential(let base, let limit, let jitter):
                ExponentialBackoff(base: base, limit: limit, jitter: jitter)
                    .delay(afterFailures: retriedCount + 1, chance: .random(in: 0...1))
            case .custom(let block): block(retriedCount)
            }
        }
    }

    /// The maximum number of retries of a request.
    public let maxRetryCount: Int
    /// The delay before each retry.
    public let retryInterval: Interval
    /// The maximum delay on the server's demand, in seconds (`Retry-After`, see
    /// ``RetryContext/retryAfter``). A request whose server demands more is not retried; 0 ignores
    /// the server's demands.
    public let maximumRetryAfter: TimeInterval

    public init(
        maxRetryCount: Int, retryInterval: Interval = .seconds(3),
        maximumRetryAfter: TimeInterval = 60
    ) {
        self.maxRetryCount = maxRetryCount
        self.retryInterval = retryInterval
        self.maximumRetryAfter = maximumRetryAfter
    }

    /// Decides at once to stop, or to retry after the longer of the interval and the server's
    /// pause. Only response errors are retried.
    public func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        guard let delay = delay(for: context) else { return retryHandler(.stop) }
        guard delay > 0 else { return retryHandler(.retry(userInfo: nil)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) {
            retryHandler(.retry(userInfo: nil))
        }
    }

    /// Returns the seconds until the next attempt; `nil` if there is none.
    func delay(for context: RetryContext) -> TimeInterval? {
        guard context.retriedCount < maxRetryCount, context.isWorthRetrying,
            let patience = context.patience(upTo: maximumRetryAfter)
        else { return nil }
        return max(patience, retryInterval.timeInterval(for: context.retriedCount))
    }
}

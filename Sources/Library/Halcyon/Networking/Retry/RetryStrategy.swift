public import Foundation
import FoundationNetworking
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
        /// Until when the server wants to be left alone, by the failure.
        var retryTime: ContinuousClock.Instant?
        var retriedCount = 0
        var userInfo = UserInfo(value: nil)
    }

    /// The source that was asked for.
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

    /// The seconds that are left of the time for which the server asked to be left alone with the
    /// answer that failed the request (`Retry-After`), at most a day; `nil` when it asked for none.
    public var retryAfter: TimeInterval? {
        state.withLock({ $0.retryTime }).map { max(0, ($0 - .now) / .seconds(1)) }
    }

    /// How often the request has been retried: 0 when the first decision is asked for.
    public var retriedCount: Int {
        get { state.withLock { $0.retriedCount } }
        set { state.withLock { $0.retriedCount = newValue } }
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
        let value = UserInfo(value: userInfo)
        state.withLock {
            $0.userInfo = value
            $0.retriedCount += 1
        }
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

    /// The seconds to wait so that the server is left alone for as long as it asked, 0 when it asked
    /// for nothing or `limit` is 0; `nil` when that is longer than `limit`.
    func patience(upTo limit: TimeInterval) -> TimeInterval? {
        guard limit > 0, let retryAfter else { return 0 }
        return retryAfter <= limit ? retryAfter : nil
    }
}

extension KingfisherError {
    /// Until when the server wants to be left alone, if the failure has just come.
    fileprivate var retryTime: ContinuousClock.Instant? {
        if case .responseError(
            reason: .URLSessionError(ImageTransportError.pausedByServer(_, until: let end))) = self
        {
            return .now + .seconds(end.timeIntervalSinceNow)
        }
        return retryAfter(at: Date()).map { .now + .seconds($0) }
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
        /// The pause begins with `base` seconds and doubles each time, up to `limit` seconds. Chance
        /// makes it shorter or longer by a part of up to `jitter` (0 to 1), so that many requests
        /// that failed together do not come back together.
        case exponential(base: TimeInterval, limit: TimeInterval, jitter: Double = 0.2)
        /// The pause in seconds, computed from how often the request has been retried.
        case custom(block: @Sendable (_ retriedCount: Int) -> TimeInterval)

        /// Seconds to wait when the request has been retried `retriedCount` times.
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

    /// How often a request is tried again at most.
    public let maxRetryCount: Int
    /// How long to wait before each further attempt.
    public let retryInterval: Interval
    /// The most seconds that are waited because the server asked for it (`Retry-After`, see
    /// ``RetryContext/retryAfter``). A request whose server wants more is given up; 0 has no server's
    /// wish looked at.
    public let maximumRetryAfter: TimeInterval

    public init(
        maxRetryCount: Int, retryInterval: Interval = .seconds(3),
        maximumRetryAfter: TimeInterval = 60
    ) {
        self.maxRetryCount = maxRetryCount
        self.retryInterval = retryInterval
        self.maximumRetryAfter = maximumRetryAfter
    }

    /// Decides at once to stop, or to retry after the interval or the time that the server asked for,
    /// whichever is longer. Only response errors are retried.
    public func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        guard let delay = delay(for: context) else { return retryHandler(.stop) }
        guard delay > 0 else { return retryHandler(.retry(userInfo: nil)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) {
            retryHandler(.retry(userInfo: nil))
        }
    }

    /// The seconds until the next attempt; `nil` when there is none.
    func delay(for context: RetryContext) -> TimeInterval? {
        guard context.retriedCount < maxRetryCount, context.isWorthRetrying,
            let patience = context.patience(upTo: maximumRetryAfter)
        else { return nil }
        return max(patience, retryInterval.timeInterval(for: context.retriedCount))
    }
}

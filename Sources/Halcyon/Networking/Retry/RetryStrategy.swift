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
        get { state.withLock { $0.error } }
        set { state.withLock { $0.error = newValue } }
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

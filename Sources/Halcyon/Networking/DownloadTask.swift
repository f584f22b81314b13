import Synchronization

/// One caller's share of a download, by which the caller cancels.
///
/// A cancellation is remembered: one that comes before the download has begun (while an asynchronous
/// request modifier runs, for example) cancels it all the same.
public final class DownloadTask: Sendable {
    private enum Carried {
        case nothing
        case download(SessionDataTask, SessionDataTask.CancelToken)
        case provider
    }

    private struct State {
        var carried = Carried.nothing
        var isCancelled = false
        var actions: [Int: @Sendable () -> Void] = [:]
        var nextAction = 0
    }

    private let state = Mutex(State())

    init() {}

    /// The download; `nil` until it has begun, and for a data provider's work.
    public var sessionTask: SessionDataTask? {
        state.withLock { if case .download(let task, _) = $0.carried { task } else { nil } }
    }

    /// This caller's number within the download; `nil` until that has begun.
    public var cancelToken: SessionDataTask.CancelToken? {
        state.withLock { if case .download(_, let token) = $0.carried { token } else { nil } }
    }

    /// Whether there is work behind this task: a download or a data provider's.
    public var isInitialized: Bool {
        state.withLock { if case .nothing = $0.carried { false } else { true } }
    }

    /// Whether `cancel()` was called.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Ends this caller's request with an error; a download goes on while others wait for it.
    ///
    /// Does nothing when the request has ended.
    public func cancel() {
        let (carried, actions) = state.withLock { state in
            guard !state.isCancelled else { return (Carried.nothing, [@Sendable () -> Void]()) }
            state.isCancelled = true
            let actions = state.actions.sorted { $0.key < $1.key }.map(\.value)
            state.actions = [:]
            return (state.carried, actions)
        }
        if case .download(let task, let token) = carried { task.cancel(token) }
        for action in actions { action() }
    }

    /// Makes this the task of caller `token` of a download, in place of what it was before; cancels
    /// that caller if this task has been cancelled.
    func link(to task: SessionDataTask, token: SessionDataTask.CancelToken) {
        let isCancelled = state.withLock {
            $0.carried = .download(task, token)
            return $0.isCancelled
        }
        // Cancelled before: nobody else will tell the download.
        if isCancelled { task.cancel(token) }
    }

    /// Makes this the task of a data provider's work; what cancels it is registered with `onCancel`.
    func carryProvider() {
        state.withLock { $0.carried = .provider }
    }

    /// Runs `action` once when this task is cancelled: at once if it has been.
    ///
    /// - Returns: What `removeCancelAction` takes.
    @discardableResult
    func onCancel(_ action: @escaping @Sendable () -> Void) -> Int {
        let id: Int? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.nextAction += 1
            state.actions[state.nextAction] = action
            return state.nextAction
        }
        if id == nil { action() }
        return id ?? 0
    }

    /// Forgets an action registered with `onCancel`.
    func removeCancelAction(_ id: Int) {
        // Released after the lock: the action may own what has a `deinit`.
        _ = state.withLock { $0.actions.removeValue(forKey: id) }
    }
}

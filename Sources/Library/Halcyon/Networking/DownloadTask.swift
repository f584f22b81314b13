import HalcyonWork
import Synchronization

/// One caller's share of a download, and the means to cancel it.
///
/// A cancellation is remembered: one before the start of the download (for example while an
/// asynchronous request modifier runs) also cancels it.
public final class DownloadTask: Sendable {
    private enum Carried {
        case nothing
        case download(SessionDataTask, SessionDataTask.CancelToken)
        case provider
        /// The task that a subclass of the downloader has returned.
        case other(DownloadTask)
    }

    private struct State {
        var carried = Carried.nothing
        var isCancelled = false
        /// `nil` until the options are known.
        var priority: Float?
        /// Whether the caller has overridden the priority of the options.
        var isReprioritized = false
        /// Whether the attempt failed with an error remembered by the cache.
        var hasRememberedError = false
        var successor: DownloadTask?
        var actions: [Int: @Sendable () -> Void] = [:]
        var nextAction = 0
    }

    private let state: Mutex<State>

    init() {
        state = Mutex(State())
    }

    private init(succeeding predecessor: State) {
        state = Mutex(
            State(
                priority: predecessor.priority, isReprioritized: predecessor.isReprioritized))
    }

    private var download: (task: SessionDataTask, token: SessionDataTask.CancelToken)? {
        switch state.withLock({ $0.carried }) {
        case .download(let task, let token): (task, token)
        case .other(let task): task.download
        case .nothing, .provider: nil
        }
    }

    /// The download; `nil` until it has begun, and for a data provider's work.
    public var sessionTask: SessionDataTask? { download?.task }

    /// Identifies this caller within the download; `nil` until that has begun.
    public var cancelToken: SessionDataTask.CancelToken? { download?.token }

    /// Whether there is work behind this task: a download or a data provider's.
    public var isInitialized: Bool {
        switch state.withLock({ $0.carried }) {
        case .nothing: false
        case .download, .provider: true
        case .other(let task): task.isInitialized
        }
    }

    /// The priority of the download for this caller, from 0 to 1; the `downloadPriority` of the
    /// options unless changed here.
    ///
    /// The request with the highest priority is the first to get a connection to its host. A
    /// download has the highest priority of its callers. A change takes effect at once, for a
    /// waiting request as for retries and alternative sources; a transfer under way is neither
    /// stopped nor slowed down. NaN counts as 0.5.
    public var priority: Float {
        get { state.withLock { $0.priority } ?? TransferPriority.standard }
        set {
            let priority = newValue.isNaN ? TransferPriority.standard : newValue
            let (carried, successor) = state.withLock { state in
                state.priority = priority
                state.isReprioritized = true
                return (state.carried, state.successor)
            }
            switch carried {
            case .download(let task, let token): task.reprioritize(token, priority)
            case .other(let task): task.priority = priority
            case .nothing, .provider: break
            }
            successor?.priority = priority
        }
    }

    /// Applies the priority of the options, unless the caller has set one.
    func adopt(_ priority: Float) {
        state.withLock { state in
            guard !state.isReprioritized else { return }
            state.priority = priority.isNaN ? TransferPriority.standard : priority
        }
    }

    /// Makes the task of the next attempt, which shares cancellations and priority changes with
    /// this one.
    func makeSuccessor() -> DownloadTask {
        let successor = state.withLock { state in
            let successor = DownloadTask(succeeding: state)
            state.successor = successor
            return successor
        }
        onCancel { successor.cancel() }
        return successor
    }

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
        switch carried {
        case .download(let task, let token): task.cancel(token)
        case .other(let task): task.cancel()
        case .nothing, .provider: break
        }
        for action in actions { action() }
    }

    /// Makes this the task of caller `token` of a download, in place of what it was before; cancels
    /// that caller if this task has been cancelled.
    func link(to task: SessionDataTask, token: SessionDataTask.CancelToken) {
        let (isCancelled, changedPriority) = state.withLock {
            $0.carried = .download(task, token)
            return ($0.isCancelled, $0.isReprioritized ? $0.priority : nil)
        }
        // The priority may have changed between joining the download and now.
        if let changedPriority { task.reprioritize(token, changedPriority) }
        // Cancelled before the link: the download does not know yet.
        if isCancelled { task.cancel(token) }
    }

    /// Makes this task a proxy of `task`: cancellations and priority changes are passed on.
    func follow(_ task: DownloadTask) {
        let (isCancelled, changedPriority) = state.withLock {
            $0.carried = .other(task)
            return ($0.isCancelled, $0.isReprioritized ? $0.priority : nil)
        }
        if let changedPriority { task.priority = changedPriority }
        if isCancelled { task.cancel() }
    }

    /// Makes this the task of a data provider's work; its cancellation is registered with
    /// `onCancel`.
    func carryProvider() {
        state.withLock { $0.carried = .provider }
    }

    /// Runs `action` once when this task is cancelled; at once if it already is; returns the identifier for
    /// `removeCancelAction`.
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

    /// Runs `action` once if this task is cancelled before `outcome` is given; at once if it
    /// already is.
    func onCancel<Value>(
        before outcome: OneShot<Value>, _ action: @escaping @Sendable () -> Void
    ) {
        let id = onCancel(action)
        outcome.whenGiven { _ in self.removeCancelAction(id) }
    }

    /// Whether the attempt failed with an error remembered by the cache: no request was sent, and a
    /// retry is useless.
    var hasRememberedError: Bool { state.withLock { $0.hasRememberedError } }

    func noteRememberedError() {
        state.withLock { $0.hasRememberedError = true }
    }

    func removeCancelAction(_ id: Int) {
        // Released after the lock: the action may own objects with a `deinit`.
        _ = state.withLock { $0.actions.removeValue(forKey: id) }
    }
}

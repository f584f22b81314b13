import Synchronization

/// A waiter that several parties want and one gets.
final class PendingWaiter: Sendable {
    private struct State {
        var waiter: DownloadWaiter?
        var afterwards: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(_ waiter: DownloadWaiter) {
        state = Mutex(State(waiter: waiter))
    }

    func take() -> DownloadWaiter? {
        let (waiter, afterwards) = state.withLock { state in
            defer { state = State() }
            return (state.waiter, state.afterwards)
        }
        afterwards?()
        return waiter
    }

    /// Runs `action` once the waiter has been taken: at once if it has been.
    func onTake(_ action: @escaping @Sendable () -> Void) {
        let isTaken = state.withLock { state in
            if state.waiter != nil { state.afterwards = action }
            return state.waiter == nil
        }
        if isTaken { action() }
    }
}

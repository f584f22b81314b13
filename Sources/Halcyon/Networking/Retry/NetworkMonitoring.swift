import Foundation
import Synchronization

/// Tells whether there is a network.
protocol NetworkMonitoring: Sendable {
    var isConnected: Bool { get }

    /// Calls `callback` once: with `true` when there is a network again, with `false` after
    /// `timeoutInterval` seconds without one.
    func observeConnectivity(
        timeoutInterval: TimeInterval?, callback: @escaping @Sendable (Bool) -> Void
    ) -> any NetworkObserver
}

/// Waits for the network until it is cancelled.
protocol NetworkObserver: Sendable {
    func cancel()
}

/// Something that ends once: remembers a cancellation and runs what is registered for it.
final class LatchedObserver: NetworkObserver {
    private struct State {
        var isEnded = false
        var actions: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Ends it and runs the registered actions.
    func cancel() {
        if let actions = end() {
            for action in actions { action() }
        }
    }

    /// Ends it; the actions, unless it has ended before.
    @discardableResult
    func end() -> [@Sendable () -> Void]? {
        state.withLock { state in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            defer { state.actions = [] }
            return state.actions
        }
    }

    /// Runs `action` when it is cancelled, at once if it has ended.
    func onCancel(_ action: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.actions.append(action) }
            return state.isEnded
        }
        if isEnded { action() }
    }
}

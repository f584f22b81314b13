import Synchronization

/// How urgent a transfer is, which may change while it waits for its turn.
package final class TransferPriority: Sendable {
    /// The priority of a download that asks for none.
    package static let standard: Float = 0.5
    /// That of what nobody looks at.
    package static let low: Float = 0.25

    private struct State {
        var value = TransferPriority.standard
        var change: UInt64 = 0
        var observer: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// 0.5 at first; never NaN.
    package var value: Float { state.withLock { $0.value } }

    /// Sets the value and tells the observer, unless a change with a greater number was there before.
    package func set(_ value: Float, change: UInt64) {
        let observer = state.withLock { state -> (@Sendable () -> Void)? in
            guard change > state.change else { return nil }
            state.value = value
            state.change = change
            return state.observer
        }
        observer?()
    }

    /// Runs `observer` after each change from now on, in place of an earlier one; `nil` ends that.
    package func observe(_ observer: (@Sendable () -> Void)?) {
        // Released after the lock: the observer may own what has a `deinit`.
        _ = state.withLock { state in
            defer { state.observer = observer }
            return state.observer
        }
    }
}

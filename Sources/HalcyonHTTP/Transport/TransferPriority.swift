import Synchronization

/// How urgent a transfer is, which may change while it waits for its turn.
package final class TransferPriority: Sendable {
    /// The priority of a download that asks for none.
    package static let standard: Float = 0.5
    /// That of what nobody looks at.
    package static let low: Float = 0.25

    private struct State {
        var value = TransferPriority.standard
        var observer: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// 0.5 at first; never NaN. Who sets it calls `announce()` afterwards, without holding a lock.
    package var value: Float {
        get { state.withLock { $0.value } }
        set { state.withLock { $0.value = newValue } }
    }

    /// Runs `observer` after each change from now on, in place of an earlier one; `nil` ends that.
    package func observe(_ observer: (@Sendable () -> Void)?) {
        // Released after the lock: the observer may own what has a `deinit`.
        _ = state.withLock { state in
            defer { state.observer = observer }
            return state.observer
        }
    }

    /// Tells the observer that the value may have changed.
    package func announce() {
        state.withLock { $0.observer }?()
    }
}

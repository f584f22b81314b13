package import Synchronization

/// A value behind a lock, whose changes can be awaited.
///
/// A wait looks at the value again after each change, never after a time. While nobody waits, a change costs a lock and
/// a branch. Inlinable, because each request makes several.
package final class Observed<Value: Sendable>: Sendable {
    @usableFromInline
    struct State {
        @usableFromInline
        var value: Value
        /// Given with the next change; `nil` while nobody waits.
        @usableFromInline
        var change: OneShot<Void>?

        @inlinable
        init(value: Value) { self.value = value }
    }

    @usableFromInline
    let state: Mutex<State>

    @inlinable
    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    @inlinable
    deinit {}

    @inlinable
    package var value: Value { read { $0 } }

    /// Returns a part of the value, without a copy of the rest; `body` runs under the lock.
    @inlinable
    package func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
        state.withLock { body($0.value) }
    }

    /// Changes the value under the lock, and then wakes everybody who waits for it.
    @discardableResult
    @inlinable
    package func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, change) = state.withLock { state in
            (body(&state.value), state.change.take())
        }
        change?.give(())
        return result
    }

    /// Waits until `condition` holds for the value; it runs without the lock.
    ///
    /// Intermediate values may be skipped when changes come fast.
    ///
    /// - Returns: The value for which it held, or `nil` when the task was cancelled before.
    @discardableResult
    package func wait(until condition: @Sendable (Value) -> Bool) async -> Value? {
        while !Task.isCancelled {
            let (value, change) = state.withLock { state in
                let change = state.change ?? OneShot()
                state.change = change
                return (state.value, change)
            }
            if condition(value) { return value }
            await withTaskCancellationHandler {
                await change.value
            } onCancel: {
                // Wakes the others, too, who then wait for the next change.
                update { _ in }
            }
        }
        return nil
    }
}

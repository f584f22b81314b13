import Synchronization

/// A value behind a mutex, shared by reference.
package final class Locked<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    package init(_ value: Value) {
        mutex = Mutex(value)
    }

    package var value: Value { mutex.withLock { $0 } }

    /// Runs `body` with exclusive access; it must not wait.
    package func withLock<Result: Sendable>(
        _ body: (inout Value) throws -> Result
    ) rethrows -> Result {
        try mutex.withLock { value in try body(&value) }
    }

    package func set(_ value: Value) {
        mutex.withLock { $0 = value }
    }
}

/// A value whose changes can be awaited.
///
/// A wait looks at the value again after each change, never after a time.
package final class Observed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var version = 0
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    package var value: Value { state.withLock { $0.value } }

    /// Changes the value and wakes everybody who waits for it.
    @discardableResult
    package func update<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = body(&state.value)
            state.version += 1
            let woken = state.waiters
            if !woken.isEmpty { state.waiters = [:] }
            return (result, woken)
        }
        for waiter in woken.values { waiter.resume() }
        return result
    }

    /// Waits until `condition` holds for the value.
    ///
    /// Intermediate values may be skipped when changes come fast.
    ///
    /// - Returns: The value for which it held, or `nil` when the task was cancelled before.
    @discardableResult
    package func wait(until condition: @Sendable (Value) -> Bool) async -> Value? {
        while !Task.isCancelled {
            let (value, version) = state.withLock { ($0.value, $0.version) }
            if condition(value) { return value }
            await waitForChange(since: version)
        }
        return nil
    }

    private func waitForChange(since version: Int) async {
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The cancellation handler may have run already, and would not wake this waiter.
                let waits = state.withLock { state in
                    guard state.version == version, !Task.isCancelled else { return false }
                    state.waiters[waiter] = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
        }
    }
}

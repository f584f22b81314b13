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

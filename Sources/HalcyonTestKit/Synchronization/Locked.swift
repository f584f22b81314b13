import Synchronization

/// A value behind a mutex, shared by reference.
public final class Locked<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    public init(_ value: Value) {
        mutex = Mutex(value)
    }

    /// A copy of the value.
    public var value: Value { mutex.withLock { $0 } }

    /// Runs `body` with exclusive access; it must not wait.
    public func withLock<Result: Sendable>(
        _ body: (inout Value) throws -> Result
    ) rethrows -> Result {
        try mutex.withLock { value in try body(&value) }
    }

    /// Replaces the value.
    public func set(_ value: Value) {
        mutex.withLock { $0 = value }
    }
}

public import Synchronization

extension Mutex where Value: Sendable {
    /// One part of the value, read or replaced under the lock.
    ///
    /// What has to be read or changed together goes through `withLock`: `state[\.count] += 1` would be
    /// two steps, between which others may change it.
    @inlinable
    package subscript<Part: Sendable>(path: WritableKeyPath<Value, Part>) -> Part {
        get { withLock { $0[keyPath: path] } }
        nonmutating set { withLock { $0[keyPath: path] = newValue } }
    }
}

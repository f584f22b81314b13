import Synchronization

/// Work that is done once for all who ask for it while it is under way.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Flight {
        var waiting: [CheckedContinuation<Value?, Never>] = []
        /// Of those who asked; `nil` is somebody who wants the value in any case.
        var wishes: [(@Sendable () -> Bool)?]
    }

    private let flights = Mutex<[Key: Flight]>([:])

    /// Whether no work is under way.
    var isIdle: Bool { flights.withLock { $0.isEmpty } }

    /// What `work` gives for `key`: done by the first who asks, on behalf of all.
    ///
    /// - Parameters:
    ///   - isWanted: Whether this caller still wants the value; `nil` for always.
    ///   - work: Is told by its argument whether anybody still wants the value.
    func value(
        for key: Key, isWanted: (@Sendable () -> Bool)?,
        _ work: (_ isWanted: @escaping @Sendable () -> Bool) async -> Value
    ) async -> Value {
        while true {
            if begin(key, isWanted) {
                let value = await work { self.isWanted(key) }
                land(key, with: value)
                return value
            }
            let shared = await withCheckedContinuation { continuation in
                if !join(key, isWanted, continuation) { continuation.resume(returning: nil) }
            }
            if let shared { return shared }
        }
    }

    /// Makes the caller the one who does the work, unless somebody does it already.
    private func begin(_ key: Key, _ isWanted: (@Sendable () -> Bool)?) -> Bool {
        flights.withLock { flights in
            guard flights[key] == nil else { return false }
            flights[key] = Flight(wishes: [isWanted])
            return true
        }
    }

    /// Lets the caller wait for the work, unless it has just ended.
    private func join(
        _ key: Key, _ isWanted: (@Sendable () -> Bool)?,
        _ continuation: CheckedContinuation<Value?, Never>
    ) -> Bool {
        flights.withLock { flights in
            guard flights[key] != nil else { return false }
            flights[key]?.wishes.append(isWanted)
            flights[key]?.waiting.append(continuation)
            return true
        }
    }

    /// Whether anybody who waits for `key` still wants it.
    func isWanted(_ key: Key) -> Bool {
        // Asked outside the lock: what it calls is not ours.
        let wishes = flights.withLock { $0[key]?.wishes ?? [] }
        return wishes.contains { $0?() ?? true }
    }

    private func land(_ key: Key, with value: Value) {
        let flight = flights.withLock { $0.removeValue(forKey: key) }
        for continuation in flight?.waiting ?? [] { continuation.resume(returning: value) }
    }
}

import Synchronization

/// The stores already begun for one download, so that a thousand callers write a file once.
final class SharedStores: Sendable {
    private let running = Mutex<[StoreIdentity: Task<CacheStoreResult, Never>]>([:])

    /// The store of `identity`, begun by `start` unless it already is. `start` must only begin it:
    /// it runs under the lock.
    func join(_ identity: StoreIdentity, start: () -> Task<CacheStoreResult, Never>) -> Task<
        CacheStoreResult, Never
    > {
        running.withLock { running in
            if let task = running[identity] { return task }
            let task = start()
            running[identity] = task
            return task
        }
    }
}

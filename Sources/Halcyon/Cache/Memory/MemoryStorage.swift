import Foundation
import Synchronization

/// The memory part of a cache.
public enum MemoryStorage {
    /// Keeps values in memory within limits of cost and count; beyond them, those used longest ago
    /// go first. All members may be used from any thread and take constant time unless noted.
    ///
    /// What every request calls is also compiled for images alone: a program that calls the generic
    /// form from another module would otherwise have each step look up what `T` is.
    public final class Backend<T: CacheCostCalculable>: Sendable where T: Sendable {
        private struct State {
            var config: Config
            var timer: RepeatingTimer?
        }

        private let store: ShardedStore<StorageObject<T>>
        private let state: Mutex<State>
        private let now: @Sendable () -> Date

        /// Makes an empty storage.
        public convenience init(config: Config) {
            self.init(config: config, now: { .coarse })
        }

        /// Makes an empty storage that takes the time from `now`.
        init(config: Config, now: @escaping @Sendable () -> Date) {
            self.now = now
            store = ShardedStore(
                costLimit: config.effectiveCostLimit, countLimit: config.effectiveCountLimit)
            state = Mutex(State(config: config))
            startCleaning(every: config.cleanInterval)
        }

        /// The limits, expiration and cleaning. Setting them removes what exceeds the new limits and
        /// restarts the clean timer.
        public var config: Config {
            get { state.withLock { $0.config } }
            set {
                let leaving = state.withLock { state in
                    // Under the lock, so that limits and config are those of one setter.
                    let leaving = store.setLimits(
                        cost: newValue.effectiveCostLimit, count: newValue.effectiveCountLimit)
                    state.config = newValue
                    return leaving
                }
                withExtendedLifetime(leaving) {}
                startCleaning(every: newValue.cleanInterval)
            }
        }

        /// Removes all expired values. Takes time in proportion to the number of values.
        public func removeExpired() {
            let date = now()
            let leaving = store.removeAll { $0.isExpired(at: date) }
            // All of them were counted at once, so that the sum is a number.
            let cost = leaving.reduce(0) { $0 + $1.cost }
            withExtendedLifetime(leaving) {}
            if cost >= HeapTrim.leastCost { HeapTrim.plan() }
        }

        /// Keeps `value`, in place of the key's former value, for `expiration` or the config's.
        /// Does nothing when `expiration` has already passed. When the storage is full, a call now
        /// and then sorts all values by their last use.
        #if compiler(>=6.3)
            @specialized(where T == KFCrossPlatformImage)
        #endif
        public func store(value: T, forKey key: String, expiration: StorageExpiration? = nil) {
            let date = now()
            let key = StoreKey(key)
            let cost = value.cacheCost
            let expiration = expiration ?? state.withLock { $0.config.expiration }
            guard !expiration.isExpired(at: date) else { return }
            let object = StorageObject(value, expiration: expiration, at: date)
            let leaving = store.insert(object, cost: cost, forKey: key)
            withExtendedLifetime(leaving) {}
        }

        /// The key's value, unless it is missing or expired.
        #if compiler(>=6.3)
            @specialized(where T == KFCrossPlatformImage)
        #endif
        public func value(
            forKey key: String, extendingExpiration: ExpirationExtending = .cacheTime
        ) -> T? {
            let date = now()
            let key = StoreKey(key)
            return store.use(key) { object in
                if object.isExpired(at: date) { return nil }
                object.extendExpiration(extendingExpiration, at: date)
                return object.value
            }
        }

        /// Whether there is a value for the key that is not expired. No use of the value.
        #if compiler(>=6.3)
            @specialized(where T == KFCrossPlatformImage)
        #endif
        public func isCached(forKey key: String) -> Bool {
            let date = now()
            let key = StoreKey(key)
            return store.peek(key) { !$0.isExpired(at: date) } ?? false
        }

        /// Removes the key's value.
        public func remove(forKey key: String) {
            let key = StoreKey(key)
            let leaving = store.removeValue(forKey: key)
            withExtendedLifetime(leaving) {}
        }

        /// Removes all values.
        public func removeAll() {
            let leaving = store.removeAll()
            withExtendedLifetime(leaving) {}
        }

        /// Bytes that the values cost, including expired ones that are not removed yet.
        public func totalCacheCost() -> Int {
            store.totalCost
        }

        /// The stored object, expired or not.
        func storageObject(forKey key: String) -> StorageObject<T>? {
            store.peek(StoreKey(key)) { $0 }
        }

        private func startCleaning(every interval: TimeInterval) {
            let timer = RepeatingTimer(after: interval, every: interval) { [weak self] in
                self?.removeExpired()
            }
            let former = state.withLock { state in
                let former = state.timer
                state.timer = timer
                return former
            }
            withExtendedLifetime(former) {}
        }
    }

    /// A value with the expiration it was stored with.
    struct StorageObject<T: Sendable>: Sendable {
        let value: T
        let expiration: StorageExpiration
        private(set) var estimatedExpiration: Date

        init(_ value: T, expiration: StorageExpiration, at date: Date) {
            self.value = value
            self.expiration = expiration
            estimatedExpiration = expiration.estimatedExpirationSince(date)
        }

        func isExpired(at date: Date) -> Bool { estimatedExpiration.isPast(at: date) }

        /// Moves the expiration as an access at `date` asks for.
        mutating func extendExpiration(
            _ extending: ExpirationExtending = .cacheTime, at date: Date
        ) {
            switch extending {
            case .none: break
            case .cacheTime: estimatedExpiration = expiration.estimatedExpirationSince(date)
            case .expirationTime(let other):
                estimatedExpiration = other.estimatedExpirationSince(date)
            }
        }
    }
}

public import Foundation

/// A value that knows how many bytes of memory it costs.
public protocol CacheCostCalculable {
    /// Bytes.
    var cacheCost: Int { get }
}

/// The memory part of a cache.
public enum MemoryStorage {
    /// The limits of a memory storage.
    public struct Config: Sendable {
        /// The most bytes all values may cost together; 0 or less for no limit.
        public var totalCostLimit: Int
        /// The most values; 0 or less for no limit.
        public var countLimit: Int = .max
        /// How long values are kept that are stored without an expiration of their own.
        public var expiration: StorageExpiration = .seconds(300)
        /// Seconds between two removals of expired values.
        public var cleanInterval: TimeInterval
        /// Without effect; kept so that code for other platforms compiles. There it keeps values
        /// when a program goes to the background, a state that Linux does not have.
        public var keepWhenEnteringBackground: Bool = false

        /// Limits the cost to `totalCostLimit` bytes; expired values are removed every
        /// `cleanInterval` seconds.
        public init(totalCostLimit: Int, cleanInterval: TimeInterval = 120) {
            self.totalCostLimit = totalCostLimit
            self.cleanInterval = cleanInterval
        }

        var effectiveCostLimit: Int? { totalCostLimit > 0 ? totalCostLimit : nil }
        var effectiveCountLimit: Int? { countLimit > 0 ? countLimit : nil }
    }

    /// Keeps values in memory within limits of cost and count; beyond them, those used longest ago
    /// go first. All members may be used from any thread and take constant time unless noted.
    ///
    /// What depends on the type of the values is compiled where it is used; the rest is `ObjectStore`,
    /// which is compiled once.
    public final class Backend<T: CacheCostCalculable>: Sendable where T: Sendable {
        @usableFromInline let objects: ObjectStore

        /// Makes an empty storage.
        public convenience init(config: Config) {
            self.init(config: config, now: { .coarse })
        }

        /// Makes an empty storage that takes the time from `now`.
        package init(config: Config, now: @escaping @Sendable () -> Date) {
            objects = ObjectStore(config: config, now: now)
        }

        /// The limits, expiration and cleaning. Setting them removes what exceeds the new limits and
        /// restarts the clean timer.
        public var config: Config {
            get { objects.config }
            set { objects.config = newValue }
        }

        /// Removes all expired values. Takes time in proportion to the number of values.
        public func removeExpired() {
            objects.removeExpired()
        }

        /// Keeps `value`, in place of the key's former value, for `expiration` or the config's.
        /// Does nothing when `expiration` has already passed. When the storage is full, a call now
        /// and then sorts all values by their last use.
        @inlinable
        public func store(value: T, forKey key: String, expiration: StorageExpiration? = nil) {
            objects.store(
                StoredObject(value), cost: value.cacheCost, forKey: key, expiration: expiration)
        }

        /// The key's value, unless it is missing or expired.
        @inlinable
        public func value(
            forKey key: String, extendingExpiration: ExpirationExtending = .cacheTime
        ) -> T? {
            objects.object(forKey: key, extending: extendingExpiration)?.value(as: T.self)
        }

        /// Whether there is a value for the key that is not expired. No use of the value.
        public func isCached(forKey key: String) -> Bool {
            objects.contains(key)
        }

        /// Removes the key's value.
        public func remove(forKey key: String) {
            objects.remove(key)
        }

        /// Removes all values.
        public func removeAll() {
            objects.removeAll()
        }

        /// Bytes that the values cost, including expired ones that are not removed yet.
        public func totalCacheCost() -> Int {
            objects.totalCost
        }
    }
}

/// A value of any type as an object.
@usableFromInline
struct StoredObject: Sendable {
    @usableFromInline let object: any AnyObject & Sendable

    /// An object stays itself, anything else gets one around it.
    @inlinable
    init<T: Sendable>(_ value: T) {
        object =
            T.self is AnyClass
            ? unsafeBitCast(value, to: (any AnyObject & Sendable).self) : ValueBox(value)
    }

    /// The value, which must be of the type it was stored with.
    @inlinable
    func value<T: Sendable>(as type: T.Type) -> T {
        T.self is AnyClass
            ? unsafeBitCast(object, to: T.self)
            : unsafeDowncast(object, to: ValueBox<T>.self).value
    }
}

/// Makes an object of a value.
@usableFromInline
final class ValueBox<T: Sendable>: Sendable {
    @usableFromInline let value: T

    @inlinable
    init(_ value: T) { self.value = value }
}

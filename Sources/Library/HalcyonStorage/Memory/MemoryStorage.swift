import CStorage
import Dispatch
public import Foundation
import Synchronization

/// A value with a memory cost.
public protocol CacheCostCalculable {
    /// The cost in bytes.
    var cacheCost: Int { get }
}

/// The memory part of a cache.
public enum MemoryStorage {
    /// The limits of a memory storage.
    public struct Config: Sendable {
        /// The limit in bytes of the cost of all values together; 0 or less for no limit.
        public var totalCostLimit: Int
        /// The limit of the number of values; 0 or less for no limit.
        public var countLimit: Int = .max
        /// The lifetime of values that are stored without an expiration of their own.
        public var expiration: StorageExpiration = .seconds(300)
        /// The interval in seconds between removals of expired values.
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

    /// Keeps values in memory within limits of cost and count; beyond them, the least recently used
    /// are evicted first. All members may be used from any thread and take constant time unless
    /// noted.
    ///
    /// The part that depends on the type of the values is compiled in the using module; the rest is
    /// `ObjectStore`, which is compiled once.
    public final class Backend<T: CacheCostCalculable>: Sendable where T: Sendable {
        @usableFromInline let objects: ObjectStore

        /// Makes an empty storage.
        public convenience init(config: Config) {
            self.init(config: config, now: { .coarse })
        }

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

        /// Stores `value`, replacing the key's former value, for `expiration` or the config's. Does
        /// nothing when `expiration` has already passed. When the storage is full, a call now and
        /// then sorts all values by their last use.
        @inlinable
        public func store(value: T, forKey key: String, expiration: StorageExpiration? = nil) {
            objects.store(
                StoredObject.of(value), cost: value.cacheCost, forKey: key, expiration: expiration)
        }

        /// Stores `value` with a note of the caller's; see `store(value:forKey:expiration:)`.
        @inlinable
        package func store(
            value: T, forKey key: String, expiration: StorageExpiration?,
            note: (some AnyObject & Sendable)?
        ) {
            objects.store(
                StoredObject.of(value), cost: value.cacheCost, forKey: key, expiration: expiration,
                note: note.map(StoredObject.of))
        }

        /// The key's value and the note it was stored with, unless it is missing or expired. All notes must be
        /// of one class.
        @inlinable
        package func notedValue<Note: AnyObject & Sendable>(
            forKey key: String, extendingExpiration: ExpirationExtending = .cacheTime
        ) -> (value: T, note: Note?)? {
            guard let noted = objects.notedObject(forKey: key, extending: extendingExpiration)
            else { return nil }
            let value = StoredObject.take(noted.object, as: T.self)
            // No `map`: each closure would count references anew.
            guard let note = noted.note else { return (value, nil) }
            return (value, unsafeDowncast(note, to: Note.self))
        }

        /// The key's value, unless it is missing or expired.
        @inlinable
        public func value(
            forKey key: String, extendingExpiration: ExpirationExtending = .cacheTime
        ) -> T? {
            guard let object = objects.object(forKey: key, extending: extendingExpiration)
            else { return nil }
            return StoredObject.take(object, as: T.self)
        }

        /// Whether there is a value for the key that is not expired. Does not count as a use.
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

        /// Removes the values that `shouldRemove` selects, and returns them. It runs while the
        /// storage is locked.
        package func removeAll(where shouldRemove: @Sendable (T) -> Bool) -> [T] {
            objects.removeAll { shouldRemove($1.value(as: T.self)) }
                .map { $0.object.value(as: T.self) }
        }

        /// Does the same by keys, and returns them.
        package func removeKeys(where shouldRemove: @Sendable (String) -> Bool) -> [String] {
            objects.removeAll { key, _ in shouldRemove(key) }.map(\.key)
        }

        /// The number of values, including expired ones that are not removed yet.
        package var count: Int { objects.count }

        package var evictionCount: Int { objects.evictionCount }

        /// The cost of all values in bytes, including expired ones that are not removed yet.
        public func totalCacheCost() -> Int {
            objects.totalCost
        }
    }
}

/// Objects by key, each with a cost and an expiration: the part of a `MemoryStorage.Backend` that
/// does not depend on the type of its values.
@usableFromInline
final class ObjectStore: Sendable {
    /// An object with the expiration it was stored with.
    struct Entry: Sendable {
        let object: StoredObject
        let note: StoredObject?
        private let expiration: StorageExpiration
        private(set) var estimatedExpiration: Date

        init(
            _ object: consuming StoredObject, note: consuming StoredObject? = nil,
            expiration: StorageExpiration, at date: Date
        ) {
            self.object = object
            self.note = note
            self.expiration = expiration
            estimatedExpiration = expiration.estimatedExpirationSince(date)
        }

        func isExpired(at date: Date) -> Bool {
            estimatedExpiration.timeIntervalSince(date) <= 0
        }

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

    private struct State {
        var config: MemoryStorage.Config
        var cleaning: RepeatingTimer?
    }

    private let entries: ShardedStore<Entry>
    private let state: Mutex<State>
    private let now: @Sendable () -> Date

    init(config: MemoryStorage.Config, now: @escaping @Sendable () -> Date) {
        self.now = now
        entries = ShardedStore(
            costLimit: config.effectiveCostLimit, countLimit: config.effectiveCountLimit)
        state = Mutex(State(config: config))
        // Starts the cleaning, too.
        self.config = config
    }

    var config: MemoryStorage.Config {
        get { state.withLock { $0.config } }
        set {
            let interval = newValue.cleanInterval
            let cleaning = RepeatingTimer(after: interval, every: interval) { [weak self] in
                self?.removeExpired()
            }
            let leaving = state.withLock { state in
                // Under the lock, so that limits and config come from the same setter.
                let leaving = entries.setLimits(
                    cost: newValue.effectiveCostLimit, count: newValue.effectiveCountLimit)
                defer { state = State(config: newValue, cleaning: cleaning) }
                return (leaving, state.cleaning)
            }
            withExtendedLifetime(leaving) {}
        }
    }

    @usableFromInline
    func store(
        _ object: consuming StoredObject, cost: Int, forKey key: String,
        expiration: StorageExpiration?,
        note: consuming StoredObject? = nil
    ) {
        let date = now()
        let key = StoreKey(key)
        let expiration = expiration ?? state.withLock { $0.config.expiration }
        guard !expiration.isExpired(at: date) else { return }
        let entry = Entry(object, note: note, expiration: expiration, at: date)
        let leaving = entries.insert(entry, cost: cost, forKey: key)
        withExtendedLifetime(leaving) {}
    }

    /// The key's object, unless it is missing or expired, with a reference counted for the caller.
    @usableFromInline
    func object(forKey key: String, extending: ExpirationExtending) -> Unmanaged<StoredObject>? {
        use(key, extending) { .passRetained($0.object) }
    }

    /// The key's object and its note, unless missing or expired, with a reference to the object
    /// counted for the caller.
    @usableFromInline
    func notedObject(
        forKey key: String, extending: ExpirationExtending
    ) -> (object: Unmanaged<StoredObject>, note: StoredObject?)? {
        use(key, extending) { (.passRetained($0.object), $0.note) }
    }

    @inline(__always)
    private func use<R: Sendable>(
        _ key: String, _ extending: ExpirationExtending, _ read: @Sendable (Entry) -> R
    ) -> R? {
        let date = now()
        let key = StoreKey(key)
        return entries.use(key) { entry in
            if entry.isExpired(at: date) { return nil }
            entry.extendExpiration(extending, at: date)
            return read(entry)
        }
    }

    func contains(_ key: String) -> Bool {
        let date = now()
        let key = StoreKey(key)
        return entries.peek(key) { !$0.isExpired(at: date) } ?? false
    }

    /// The key's entry, expired or not.
    func entry(forKey key: String) -> Entry? {
        entries.peek(StoreKey(key)) { $0 }
    }

    func remove(_ key: String) {
        let leaving = entries.removeValue(forKey: StoreKey(key))
        withExtendedLifetime(leaving) {}
    }

    func removeAll() {
        let leaving = entries.removeAll()
        withExtendedLifetime(leaving) {}
    }

    func removeAll(
        where shouldRemove: @Sendable (_ key: String, StoredObject) -> Bool
    ) -> [(key: String, object: StoredObject)] {
        entries.removeAll { shouldRemove($0, $1.object) }.map { ($0.key, $0.entry.value.object) }
    }

    func removeExpired() {
        let date = now()
        let leaving = entries.removeAll { $1.isExpired(at: date) }
        // All of them were counted at once, so that the sum does not overflow.
        let cost = leaving.reduce(0) { $0 + $1.entry.cost }
        withExtendedLifetime(leaving) {}
        if cost >= HeapTrim.leastCost { HeapTrim.plan() }
    }

    var totalCost: Int { entries.budget.totalCost }

    var count: Int { entries.budget.count }
    var evictionCount: Int { entries.budget.evictionCount }
}

/// A value of any type as an object of which only the references are counted.
///
/// No object is of this class: it stands for that of the value or of the box around it. Of a class, references
/// are counted in place; of `AnyObject`, by functions that are looked up at run time.
@usableFromInline
final class StoredObject: Sendable {
    /// Returns an object itself, and anything else in a box.
    @inlinable
    static func of<T: Sendable>(_ value: T) -> StoredObject {
        let object =
            T.self is AnyClass ? unsafeBitCast(value, to: AnyObject.self) : ValueBox(value)
        return Unmanaged<StoredObject>.fromOpaque(Unmanaged.passUnretained(object).toOpaque())
            .takeUnretainedValue()
    }

    /// The value of an object with a reference counted for it, which must be of the type it was stored with.
    ///
    /// The reference becomes that of the value. To give back one and count another would cost a sixth of what
    /// finding the object does.
    @inlinable
    static func take<T: Sendable>(_ object: Unmanaged<StoredObject>, as type: T.Type) -> T {
        guard T.self is AnyClass else { return object.takeRetainedValue().value(as: T.self) }
        var object = object
        return withUnsafeMutablePointer(to: &object) {
            UnsafeMutableRawPointer($0).assumingMemoryBound(to: T.self).move()
        }
    }

    /// The value, which must be of the type it was stored with.
    @inlinable
    func value<T: Sendable>(as type: T.Type) -> T {
        T.self is AnyClass
            ? unsafeBitCast(self, to: T.self)
            : unsafeBitCast(self, to: ValueBox<T>.self).value
    }
}

@usableFromInline
final class ValueBox<T: Sendable>: Sendable {
    @usableFromInline let value: T

    @inlinable
    init(_ value: T) { self.value = value }
}

extension Date {
    /// The time of the kernel's last tick, 1 to 10 ms ago at most: enough for expirations of seconds,
    /// at a third of what the exact time costs.
    package static var coarse: Date {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Date(
            timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000)
    }
}

/// The memory that `malloc` has obtained from the system.
package struct HeapUsage: Sendable {
    package let used: Int
    /// The freed bytes kept for reuse. Some of their pages may be back with the system.
    package let unused: Int

    /// Measures all heaps, which is slow where they are large.
    package static var current: HeapUsage {
        var (used, unused) = (0, 0)
        halcyon_heap_usage(&used, &unused)
        return HeapUsage(used: used, unused: unused)
    }
}

/// Returns the memory of released values to the system.
///
/// `free` keeps memory for reuse. That makes it fast, but does not help a program that has emptied
/// its cache to shrink.
package enum HeapTrim {
    /// The least freed cost in bytes worth a trim.
    static let leastCost = 8_000_000

    private static let isPlanned = Mutex(false)

    /// Trims in a second on another thread, once for all calls until then. Takes milliseconds.
    package static func plan() {
        let wasPlanned = isPlanned.withLock { isPlanned in
            defer { isPlanned = true }
            return isPlanned
        }
        guard !wasPlanned else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 1) {
            isPlanned.withLock { $0 = false }
            halcyon_trim_heap()
        }
    }
}

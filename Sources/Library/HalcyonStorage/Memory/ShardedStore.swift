import Synchronization

/// Values by key within limits of number and total cost, for many threads at a time: when there is
/// no room for a value, the least recently used of all shards are evicted first.
///
/// Keys are spread over shards with a lock each, so that threads that use different keys seldom
/// contend. Using a value takes the lock of its shard alone. Insertions and removals take another
/// lock first, and no thread holds the locks of two shards.
///
/// Removed values are returned, so that the caller releases them after the locks.
struct ShardedStore<Value: Sendable>: ~Copyable, Sendable {
    typealias Entry = StoreShard<Value>.Entry

    /// The state that insertions and removals change.
    struct Ledger {
        var budget: StoreBudget
        var order = EvictionOrder()
    }

    private let shards = InlineArray<16, StoreShard<Value>> { _ in StoreShard() }
    private let clock = UseClock()
    private let ledger: Mutex<Ledger>

    init(costLimit: Int? = nil, countLimit: Int? = nil) {
        ledger = Mutex(Ledger(budget: StoreBudget(costLimit: costLimit, countLimit: countLimit)))
    }

    /// The total cost and number of the values, and the limits.
    var budget: StoreBudget { ledger.withLock { $0.budget } }

    /// Stores `value`, replacing the key's former one, which is found until then. A value whose
    /// cost alone exceeds the limit is not kept, and the former one is removed.
    ///
    /// Takes constant time, except when all candidates for eviction have been removed or used
    /// since: then all values are sorted anew.
    func insert(_ value: consuming Value, cost: Int, forKey key: StoreKey) -> [Value] {
        let cost = max(0, cost)
        // Moved to its place, not copied.
        var value: Value? = consume value
        return ledger.withLock { ledger in
            var leaving: [Value] = []
            while true {
                let placement = shards[shard(of: key)].place(
                    &value, cost: cost, forKey: key, at: clock, within: &ledger.budget)
                switch placement {
                case .placed(let former):
                    if let former { leaving.append(former) }
                    return leaving
                case .tooCostly(let former):
                    if let former { leaving.append(former) }
                    if let value { leaving.append(value) }
                    return leaving
                case .full:
                    if let evicted = evict(from: &ledger) { leaving.append(evicted) }
                }
            }
        }
    }

    /// Reads the key's value with `read`, without counting a use.
    func peek<R: Sendable>(_ key: StoreKey, _ read: @Sendable (Value) -> R) -> R? {
        shards[shard(of: key)].peek(key, read)
    }

    /// Applies `change` to the key's value, whose cost stays. Counts as a use unless the result is
    /// `nil`.
    func use<R: Sendable>(_ key: StoreKey, _ change: @Sendable (inout Value) -> R?) -> R? {
        shards[shard(of: key)].use(key, at: clock, change)
    }

    /// Removes the key's value.
    func removeValue(forKey key: StoreKey) -> Value? {
        ledger.withLock { ledger in
            guard let entry = shards[shard(of: key)].remove(key) else { return nil }
            ledger.budget.release(entry.cost)
            return entry.value
        }
    }

    /// Removes all values that `shouldRemove` selects.
    func removeAll(where shouldRemove: @Sendable (Value) -> Bool) -> [Entry] {
        removeElements { _, value in shouldRemove(value) }.map(\.entry)
    }

    /// Removes the values of all keys that `shouldRemove` selects, and returns these keys.
    func removeKeys(where shouldRemove: @Sendable (String) -> Bool) -> [String] {
        removeElements { key, _ in shouldRemove(key) }.map(\.key)
    }

    private func removeElements(
        where shouldRemove: @Sendable (String, Value) -> Bool
    ) -> [(key: String, entry: Entry)] {
        ledger.withLock { ledger in
            var leaving: [(key: String, entry: Entry)] = []
            for index in shards.indices {
                leaving += shards[index].removeAll(where: shouldRemove)
            }
            for (_, entry) in leaving { ledger.budget.release(entry.cost) }
            return leaving
        }
    }

    /// Removes all values, with the memory of their tables.
    func removeAll() -> [StoreShard<Value>.Table] {
        ledger.withLock { ledger in
            ledger.budget.releaseAll()
            ledger.order = EvictionOrder()
            return shards.indices.map { shards[$0].removeAll() }
        }
    }

    /// Changes the limits and removes what exceeds them.
    func setLimits(cost: Int?, count: Int?) -> [Value] {
        ledger.withLock { ledger in
            ledger.budget.costLimit = cost
            ledger.budget.countLimit = count
            var leaving: [Value] = []
            while ledger.budget.isExceeded, let evicted = evict(from: &ledger) {
                leaving.append(evicted)
            }
            return leaving
        }
    }

    /// The shard by those bits of the hash that the shard's buckets do not use.
    private func shard(of key: StoreKey) -> Int {
        Int(truncatingIfNeeded: key.hash >> 60)
    }

    /// Evicts the least recently used value, if there is any.
    private func evict(from ledger: inout Ledger) -> Value? {
        while ledger.budget.count > 0 {
            guard let next = ledger.order.next() else {
                ledger.order = listCandidates()
                continue
            }
            if let entry = shards[Int(next.shard)].remove(Int(next.slot), ifUsedAt: next.lastUse) {
                ledger.budget.evict(entry.cost)
                return entry.value
            }
        }
        return nil
    }

    private func listCandidates() -> EvictionOrder {
        let moment = clock.next()
        let candidates = shards.indices.flatMap { index in
            shards[index].uses().map {
                EvictionOrder.Candidate(
                    shard: UInt32(index), slot: UInt32($0.slot), lastUse: $0.use)
            }
        }
        return EvictionOrder(candidates, at: moment)
    }
}

/// A part of a store: the values of some keys, behind a lock.
///
/// Removed values are returned, to be released after the lock.
struct StoreShard<Value: Sendable>: ~Copyable, Sendable {
    /// A stored value.
    struct Entry: Sendable {
        var cost: Int
        var value: Value
        /// The last use by the clock of all shards. Kept beside the value, which an access changes,
        /// too.
        var lastUse: UInt64
    }
    typealias Table = KeyTable<Entry>

    /// The result of an insertion.
    enum Placement {
        /// The value is stored, in place of the former one.
        case placed(former: Value?)
        /// Other values have to be evicted first.
        case full
        /// The value can never be stored. The former one is removed.
        case tooCostly(former: Value?)
    }

    private let table = Mutex(Table())
    /// Keeps the shards' locks in cache lines of their own; two lines, as they are fetched in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    /// Reads the key's value with `read`, without counting a use.
    func peek<R: Sendable>(_ key: StoreKey, _ read: @Sendable (Value) -> R) -> R? {
        table.withLock { table in
            guard let slot = table.slot(of: key), let entry = table[slot] else { return nil }
            return read(entry.value)
        }
    }

    /// Applies `change` to the key's value, whose cost stays. Counts as a use unless the result is
    /// `nil`.
    func use<R: Sendable>(
        _ key: StoreKey, at clock: borrowing UseClock, _ change: @Sendable (inout Value) -> R?
    ) -> R? {
        table.withLock { table in
            guard let slot = table.slot(of: key) else { return nil }
            return table.update(slot) { entry in
                let result = change(&entry.value)
                if result != nil { entry.lastUse = clock.next() }
                return result
            }
        }
    }

    /// Stores `value`, replacing the key's former one, if `budget` has room. If it is full, the
    /// former one stays and becomes the most recently used, so that others are evicted before it.
    /// Takes `value` when it is placed.
    func place(
        _ value: inout Value?, cost: Int, forKey key: StoreKey, at clock: borrowing UseClock,
        within budget: inout StoreBudget
    ) -> Placement {
        table.withLock { table in
            let slot = table.slot(of: key)
            let formerCost = slot.flatMap { table[$0]?.cost }
            switch budget.reserve(cost, inPlaceOf: formerCost) {
            case .tooCostly:
                guard let slot else { return .tooCostly(former: nil) }
                let former = table.remove(slot)
                budget.release(former.cost)
                return .tooCostly(former: former.value)
            case .full:
                if let slot { table.update(slot) { $0.lastUse = clock.next() } }
                return .full
            case .reserved:
                let entry = Entry(cost: cost, value: value.take()!, lastUse: clock.next())
                guard let slot else {
                    table.insert(entry, forKey: key)
                    return .placed(former: nil)
                }
                let former = table.update(slot) { former in
                    defer { former = entry }
                    return former.value
                }
                return .placed(former: former)
            }
        }
    }

    /// Removes the key's value.
    func remove(_ key: StoreKey) -> Entry? {
        table.withLock { table in
            table.slot(of: key).map { table.remove($0) }
        }
    }

    /// Removes the value of `slot` if its last use is `use`.
    func remove(_ slot: Table.Slot, ifUsedAt use: UInt64) -> Entry? {
        table.withLock { table in
            table[slot]?.lastUse == use ? table.remove(slot) : nil
        }
    }

    /// Removes all values that `shouldRemove` selects.
    func removeAll(
        where shouldRemove: @Sendable (String, Value) -> Bool
    ) -> [(key: String, entry: Entry)] {
        table.withLock { table in
            table.slots.compactMap { slot in
                guard let entry = table[slot], case let key = table.key(of: slot),
                    shouldRemove(key, entry.value)
                else { return nil }
                return (key, table.remove(slot))
            }
        }
    }

    /// Removes all values, with the memory of their table.
    func removeAll() -> Table {
        table.withLock { table in
            defer { table = Table() }
            return table
        }
    }

    /// The last use of each value.
    func uses() -> [(slot: Table.Slot, use: UInt64)] {
        table.withLock { table in
            table.slots.compactMap { slot in
                table[slot].map { (slot, $0.lastUse) }
            }
        }
    }
}

/// Numbers the uses of all threads in their order.
struct UseClock: ~Copyable, Sendable {
    private let uses = Atomic(UInt64(0))
    /// Keeps later data out of the cache lines of the counter, which each use changes.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    /// A number above all earlier ones.
    func next() -> UInt64 {
        uses.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}

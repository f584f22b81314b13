import Synchronization

/// Values by key whose number and total cost stay within limits, for many threads at a time: when
/// there is no room for a value, those used longest ago go first, of all shards.
///
/// Keys are spread over shards with a lock each, so that threads that use different keys seldom meet.
/// Using a value takes the lock of its shard alone. Values come and leave under another lock, taken
/// before those of shards, of which no thread holds two.
///
/// Whatever leaves the store is returned, so that the caller releases it after the locks.
struct ShardedStore<Value: Sendable>: ~Copyable, Sendable {
    typealias Entry = StoreShard<Value>.Entry
    typealias Table = StoreShard<Value>.Table

    /// What changes as values come and leave.
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

    /// What the values cost, how many there are, and the limits.
    var budget: StoreBudget { ledger.withLock { $0.budget } }

    /// Puts `value` in place of the key's former one, which is found until then. A value that costs
    /// more than the limit alone is not kept, and the former one neither.
    ///
    /// Takes constant time, except when all values that were to leave have left or been used since:
    /// then all are sorted anew.
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

    /// What `read` makes of the key's value, which does not count as a use.
    func peek<R: Sendable>(_ key: StoreKey, _ read: @Sendable (Value) -> R) -> R? {
        shards[shard(of: key)].peek(key, read)
    }

    /// Lets `change` change the key's value, whose cost stays. That is a use unless the result is
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

    /// Removes all values that `shouldRemove` names.
    func removeAll(where shouldRemove: @Sendable (Value) -> Bool) -> [Entry] {
        removeElements { shouldRemove($0.value.value) }.map { $0.value }
    }

    /// Removes the values of all keys that `shouldRemove` names.
    func removeKeys(where shouldRemove: @Sendable (String) -> Bool) -> [Table.Element] {
        removeElements { shouldRemove($0.key.text) }
    }

    private func removeElements(
        where shouldRemove: @Sendable (Table.Element) -> Bool
    ) -> [Table.Element] {
        ledger.withLock { ledger in
            var leaving: [Table.Element] = []
            for index in shards.indices {
                leaving += shards[index].removeAll(where: shouldRemove)
            }
            for element in leaving { ledger.budget.release(element.value.cost) }
            return leaving
        }
    }

    /// Removes all values, with the memory they were kept in.
    func removeAll() -> [Table] {
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

    /// By those bits of the hash that the shard's table does not use.
    private func shard(of key: StoreKey) -> Int {
        Int(truncatingIfNeeded: key.hash >> 60)
    }

    /// Removes the value used longest ago, if there is any.
    private func evict(from ledger: inout Ledger) -> Value? {
        while ledger.budget.count > 0 {
            guard let next = ledger.order.next() else {
                ledger.order = listCandidates()
                continue
            }
            let shard = shard(of: next.key)
            if let entry = shards[shard].remove(next.key, ifUsedAt: next.lastUse) {
                ledger.budget.evict(entry.cost)
                return entry.value
            }
        }
        return nil
    }

    private func listCandidates() -> EvictionOrder {
        let moment = clock.next()
        let candidates = shards.indices.flatMap { shards[$0].candidates() }
        return EvictionOrder(candidates, at: moment)
    }
}

/// A part of a store: the values of some keys, behind a lock.
///
/// What leaves is returned, to be released after the lock.
struct StoreShard<Value: Sendable>: ~Copyable, Sendable {
    /// A value that is kept.
    struct Entry: Sendable {
        var cost: Int
        var value: Value
        /// By the clock of all shards. Beside the value, which an access changes, too.
        var lastUse: UInt64

        /// Lets `change` change the value. That is a use unless the result is `nil`.
        mutating func use<R>(
            at clock: borrowing UseClock, _ change: (inout Value) -> R?
        ) -> R? {
            let result = change(&value)
            if result != nil { lastUse = clock.next() }
            return result
        }
    }
    typealias Table = [StoreKey: Entry]

    /// What became of an attempt to put a value in.
    enum Placement {
        /// The value is in, in place of the former one.
        case placed(former: Value?)
        /// Other values have to leave first.
        case full
        /// It can never be in. The former one is out.
        case tooCostly(former: Value?)
    }

    private let table = Mutex(Table())
    /// Keeps the shards' locks in cache lines of their own; two lines, as they are fetched in pairs.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    /// What `read` makes of the key's value, which does not count as a use.
    func peek<R: Sendable>(_ key: StoreKey, _ read: @Sendable (Value) -> R) -> R? {
        table.withLock { table in
            table[key].map { read($0.value) }
        }
    }

    /// Lets `change` change the key's value, whose cost stays. That is a use unless the result is
    /// `nil`.
    func use<R: Sendable>(
        _ key: StoreKey, at clock: borrowing UseClock, _ change: @Sendable (inout Value) -> R?
    ) -> R? {
        table.withLock { table in
            guard let index = table.index(forKey: key) else { return nil }
            // In place: the entry is not copied.
            return table.values[index].use(at: clock, change)
        }
    }

    /// Puts `value` in place of the key's former one if `budget` has room. If it is full, the former
    /// one stays and is now the last one used, so that others leave before it. Takes `value` when it is
    /// placed.
    func place(
        _ value: inout Value?, cost: Int, forKey key: StoreKey, at clock: borrowing UseClock,
        within budget: inout StoreBudget
    ) -> Placement {
        table.withLock { table in
            switch budget.reserve(cost, inPlaceOf: table[key]?.cost) {
            case .tooCostly:
                let former = table.removeValue(forKey: key)
                if let former { budget.release(former.cost) }
                return .tooCostly(former: former?.value)
            case .full:
                table[key]?.lastUse = clock.next()
                return .full
            case .reserved:
                let entry = Entry(cost: cost, value: value.take()!, lastUse: clock.next())
                return .placed(former: table.updateValue(entry, forKey: key)?.value)
            }
        }
    }

    /// Removes the key's value.
    func remove(_ key: StoreKey) -> Entry? {
        table.withLock { $0.removeValue(forKey: key) }
    }

    /// Removes the key's value if it was used last at `use`.
    func remove(_ key: StoreKey, ifUsedAt use: UInt64) -> Entry? {
        table.withLock { table in
            table[key]?.lastUse == use ? table.removeValue(forKey: key) : nil
        }
    }

    /// Removes all values that `shouldRemove` names.
    func removeAll(where shouldRemove: @Sendable (Table.Element) -> Bool) -> Table {
        table.withLock { table in
            let leaving = table.filter(shouldRemove)
            for key in leaving.keys { table[key] = nil }
            return leaving
        }
    }

    /// Removes all values, with the memory they were kept in.
    func removeAll() -> Table {
        table.withLock { table in
            defer { table = Table() }
            return table
        }
    }

    /// All values, with when each was used last.
    func candidates() -> [EvictionOrder.Candidate] {
        table.withLock { table in
            table.map { EvictionOrder.Candidate(key: $0.key, lastUse: $0.value.lastUse) }
        }
    }
}

/// Numbers uses in their order, whichever thread they are of.
struct UseClock: ~Copyable, Sendable {
    private let uses = Atomic(UInt64(0))
    /// Keeps what lies behind out of the cache lines of the counter, which each use changes.
    private let padding = InlineArray<16, UInt64>(repeating: 0)

    /// A number above all before it.
    func next() -> UInt64 {
        uses.wrappingAdd(1, ordering: .relaxed).oldValue
    }
}

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

    /// What changes as values come and leave.
    struct Ledger {
        var budget: StoreBudget
        var departures = DepartureList()
    }

    private let shards = InlineArray<16, StoreShard<Value>> { _ in StoreShard() }
    private let clock = UseClock()
    private let ledger: Mutex<Ledger>

    init(costLimit: Int? = nil, countLimit: Int? = nil) {
        ledger = Mutex(Ledger(budget: StoreBudget(costLimit: costLimit, countLimit: countLimit)))
    }

    /// The sum of the values' costs; never above the limit.
    var totalCost: Int { ledger.withLock { $0.budget.totalCost } }
    /// Values in the store.
    var count: Int { ledger.withLock { $0.budget.count } }

    /// Puts `value` in place of the key's former one, which is found until then. A value that costs
    /// more than the limit alone is not kept, and the former one neither.
    ///
    /// Takes constant time, except when all values that were to leave have left or been used since:
    /// then all are sorted anew.
    func insert(_ value: Value, cost: Int, forKey key: StoreKey) -> [Value] {
        let cost = max(0, cost)
        return ledger.withLock { ledger in
            var leaving: [Value] = []
            while true {
                let placement = shards[shard(of: key)].place(
                    value, cost: cost, forKey: key, at: clock, within: &ledger.budget)
                switch placement {
                case .placed(let former):
                    if let former { leaving.append(former) }
                    return leaving
                case .tooCostly(let former):
                    if let former { leaving.append(former) }
                    leaving.append(value)
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
        ledger.withLock { ledger in
            var leaving: [Entry] = []
            for index in shards.indices {
                leaving += shards[index].removeAll(where: shouldRemove)
            }
            for entry in leaving { ledger.budget.release(entry.cost) }
            return leaving
        }
    }

    /// Removes all values, with the memory they were kept in.
    func removeAll() -> [StoreShard<Value>.Table] {
        ledger.withLock { ledger in
            ledger.budget.releaseAll()
            ledger.departures = DepartureList()
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

    /// By those bits of the hash that the shard's buckets do not use.
    private func shard(of key: StoreKey) -> Int {
        Int(truncatingIfNeeded: key.hash >> 60)
    }

    /// Removes the value used longest ago, if there is any.
    private func evict(from ledger: inout Ledger) -> Value? {
        while ledger.budget.count > 0 {
            guard let next = ledger.departures.next() else {
                ledger.departures = listDepartures()
                continue
            }
            if let entry = shards[Int(next.shard)].remove(Int(next.slot), ifUsedAt: next.lastUse) {
                ledger.budget.release(entry.cost)
                return entry.value
            }
        }
        return nil
    }

    private func listDepartures() -> DepartureList {
        let moment = clock.next()
        let departures = shards.indices.flatMap { index in
            shards[index].uses().map {
                DepartureList.Departure(
                    shard: UInt32(index), slot: UInt32($0.slot), lastUse: $0.use)
            }
        }
        return DepartureList(departures, at: moment)
    }
}

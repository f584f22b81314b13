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
                let (answer, former) = shards[shard(of: key)].place(
                    &value, cost: cost, forKey: key, at: clock, within: &ledger.budget)
                if let former { leaving.append(former) }
                switch answer {
                case .reserved:
                    return leaving
                case .tooCostly:
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

    func use<R: Sendable>(_ key: StoreKey, _ change: @Sendable (inout Value) -> R?) -> R? {
        shards[shard(of: key)].use(key, at: clock, change)
    }

    func removeValue(forKey key: StoreKey) -> Value? {
        ledger.withLock { ledger in
            guard let entry = shards[shard(of: key)].remove(key) else { return nil }
            ledger.budget.release(entry.cost)
            return entry.value
        }
    }

    func removeAll(
        where shouldRemove: @Sendable (_ key: String, Value) -> Bool
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

/// The total cost and number of a store's values, with the limits of both.
struct StoreBudget {
    enum Answer {
        /// There was room; the value is counted now.
        case reserved
        /// There is no room until others are evicted.
        case full
        /// The value alone exceeds the limit.
        case tooCostly
    }

    private(set) var totalCost = 0
    private(set) var count = 0
    private(set) var evictionCount = 0
    var costLimit: Int?
    /// The limit of the number of values; `nil` for none.
    var countLimit: Int?

    /// Whether values have to be evicted because the limits were lowered.
    var isExceeded: Bool {
        totalCost > costLimit ?? .max || count > countLimit ?? .max
    }

    /// Reserves room for a value of `cost`, replacing one of `formerCost` if that is given. Costs
    /// are not negative.
    mutating func reserve(_ cost: Int, inPlaceOf formerCost: Int? = nil) -> Answer {
        guard cost <= costLimit ?? .max, countLimit ?? .max > 0 else { return .tooCostly }
        // Without a limit, `Int.max` is one.
        let (newTotal, overflows) = (totalCost - (formerCost ?? 0)).addingReportingOverflow(cost)
        let newCount = formerCost == nil ? count + 1 : count
        guard !overflows, newTotal <= costLimit ?? .max, newCount <= countLimit ?? .max else {
            return .full
        }
        totalCost = newTotal
        count = newCount
        return .reserved
    }

    mutating func release(_ cost: Int) {
        totalCost -= cost
        count -= 1
    }

    mutating func evict(_ cost: Int) {
        release(cost)
        evictionCount += 1
    }

    mutating func releaseAll() {
        totalCost = 0
        count = 0
    }
}

/// The values of a store in the order of eviction, as of some moment.
///
/// Using a value changes nothing here: the caller compares a candidate's number with that of the
/// value's last use. When they differ, the value has been used since, later than all values whose
/// numbers are equal; the list is rebuilt when it is used up. So an order costs a sort now and
/// then, and a use has to change nothing but the number.
struct EvictionOrder {
    struct Candidate {
        let shard: UInt32
        let slot: UInt32
        /// The number of the value's last use at that moment.
        let lastUse: UInt64
    }

    /// The candidates, with the next one last.
    private var candidates: [Candidate]

    init() {
        candidates = []
    }

    /// The candidates, given in any order. Values used at `moment` or later are left out if there
    /// are others: of uses during the listing, some may have been missed.
    init(_ all: [Candidate], at moment: UInt64) {
        let settled = all.filter { $0.lastUse < moment }
        candidates = (settled.isEmpty ? all : settled).sorted { $0.lastUse > $1.lastUse }
    }

    mutating func next() -> Candidate? { candidates.popLast() }
}

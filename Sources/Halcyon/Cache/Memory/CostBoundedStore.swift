/// Values by key whose number and total cost stay within limits: when a limit is exceeded, those
/// used longest ago go first.
///
/// Whatever leaves the store is returned, so that the caller can release it after its lock.
struct CostBoundedStore<Value> {
    private struct Entry {
        var value: Value
        var cost: Int
    }

    private var table = RecencyTable<Entry>()

    /// The sum of the values' costs; never above `costLimit`.
    private(set) var totalCost = 0
    /// The most that all values together may cost; `nil` for no limit.
    private(set) var costLimit: Int?
    /// The most values there may be; `nil` for no limit.
    private(set) var countLimit: Int?

    init(costLimit: Int? = nil, countLimit: Int? = nil) {
        self.costLimit = costLimit
        self.countLimit = countLimit
    }

    /// Values in the store.
    var count: Int { table.count }
    /// The keys, the one used last first.
    var keysByRecency: [String] { table.slotsByRecency.map { table.key(of: $0) } }

    /// Puts `value` in place of the key's former one. A value that costs more than the limit alone is
    /// not kept.
    mutating func insert(_ value: Value, cost: Int, forKey key: StoreKey) -> [Value] {
        let cost = max(0, cost)
        var leaving: [Value] = []
        if let former = removeValue(forKey: key) { leaving.append(former) }
        if let costLimit, cost > costLimit {
            leaving.append(value)
            return leaving
        }
        table.insert(Entry(value: value, cost: cost), forKey: key)
        totalCost += cost
        evict(into: &leaving)
        return leaving
    }

    /// The key's value, without counting as a use.
    func peek(_ key: StoreKey) -> Value? {
        table.slot(of: key).map { table.value(of: $0).value }
    }

    /// Lets `change` change the key's value, whose cost stays, and makes the key the last one used
    /// unless the result is `nil`.
    mutating func use<R>(_ key: StoreKey, _ change: (inout Value) -> R?) -> R? {
        guard let slot = table.slot(of: key),
            let result = table.update(slot, { change(&$0.value) })
        else { return nil }
        table.touch(slot)
        return result
    }

    /// Removes the key's value.
    mutating func removeValue(forKey key: StoreKey) -> Value? {
        table.slot(of: key).map { remove($0) }
    }

    /// Removes all values that `shouldRemove` names.
    mutating func removeAll(where shouldRemove: (Value) -> Bool) -> [Value] {
        table.slotsByRecency.filter { shouldRemove(table.value(of: $0).value) }.map { remove($0) }
    }

    /// Changes the limits and removes what exceeds them.
    mutating func setLimits(cost: Int?, count: Int?) -> [Value] {
        costLimit = cost
        countLimit = count
        var leaving: [Value] = []
        evict(into: &leaving)
        return leaving
    }

    private mutating func remove(_ slot: RecencyTable<Entry>.Slot) -> Value {
        let entry = table.remove(slot)
        totalCost -= entry.cost
        return entry.value
    }

    private mutating func evict(into leaving: inout [Value]) {
        while totalCost > costLimit ?? .max || count > countLimit ?? .max,
            let slot = table.leastRecent
        {
            leaving.append(remove(slot))
        }
    }
}

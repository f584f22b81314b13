/// Values by key whose number and total cost stay within limits: when a limit is exceeded, those
/// used longest ago go first.
///
/// Whatever leaves the store is returned, so that the caller can release it after its lock.
struct CostBoundedStore<Value> {
    private struct Entry {
        let key: String
        var value: Value
        var cost: Int
    }

    private var slots: [String: RecencyList<Entry>.Slot] = [:]
    private var order = RecencyList<Entry>()

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
    var count: Int { slots.count }
    /// The keys, the one used last first.
    var keysByRecency: [String] { order.elements.map(\.key) }

    /// Puts `value` in place of the key's former one. A value that costs more than the limit alone is
    /// not kept.
    mutating func insert(_ value: Value, cost: Int, forKey key: String) -> [Value] {
        let cost = max(0, cost)
        var leaving: [Value] = []
        if let former = removeValue(forKey: key) { leaving.append(former) }
        if let costLimit, cost > costLimit {
            leaving.append(value)
            return leaving
        }
        slots[key] = order.insert(Entry(key: key, value: value, cost: cost))
        totalCost += cost
        leaving += evict()
        return leaving
    }

    /// The key's value, without counting as a use.
    func peek(_ key: String) -> Value? {
        slots[key].map { order[$0].value }
    }

    /// Makes the key the last one used and lets `change` change its value; the cost stays.
    mutating func use<R>(_ key: String, _ change: (inout Value) -> R) -> R? {
        guard let slot = slots[key] else { return nil }
        order.touch(slot)
        return change(&order[slot].value)
    }

    /// Removes the key's value.
    mutating func removeValue(forKey key: String) -> Value? {
        guard let slot = slots.removeValue(forKey: key) else { return nil }
        let entry = order.remove(slot)
        totalCost -= entry.cost
        return entry.value
    }

    /// Removes all values that `shouldRemove` names.
    mutating func removeAll(where shouldRemove: (Value) -> Bool) -> [Value] {
        let keys = slots.filter { shouldRemove(order[$0.value].value) }.keys
        return keys.compactMap { removeValue(forKey: $0) }
    }

    /// Changes the limits and removes what exceeds them.
    mutating func setLimits(cost: Int?, count: Int?) -> [Value] {
        costLimit = cost
        countLimit = count
        return evict()
    }

    private mutating func evict() -> [Value] {
        var leaving: [Value] = []
        while totalCost > costLimit ?? .max || count > countLimit ?? .max,
            let slot = order.leastRecent, let value = removeValue(forKey: order[slot].key)
        {
            leaving.append(value)
        }
        return leaving
    }
}

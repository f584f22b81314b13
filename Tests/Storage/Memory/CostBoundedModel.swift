/// A store of values within limits of cost and count, written down in the simplest way.
struct CostBoundedModel {
    /// The most recent one first.
    var entries: [(key: String, value: Int, cost: Int)] = []
    var costLimit: Int?
    var countLimit: Int?

    var total: Int { entries.reduce(0) { $0 + $1.cost } }

    mutating func insert(_ value: Int, cost: Int, key: String) {
        entries.removeAll { $0.key == key }
        if cost > costLimit ?? .max { return }
        entries.insert((key, value, cost), at: 0)
        evict()
    }

    mutating func use(_ key: String) -> Int? {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return nil }
        let entry = entries.remove(at: index)
        entries.insert(entry, at: 0)
        return entry.value
    }

    mutating func evict() {
        while total > costLimit ?? .max || entries.count > countLimit ?? .max {
            entries.removeLast()
        }
    }
}

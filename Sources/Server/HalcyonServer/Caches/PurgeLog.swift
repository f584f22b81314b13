/// The purges that came during requests: entries found before a purge must not be cached.
struct PurgeLog {
    private(set) var count = 0
    private var purges: [(number: Int, purge: Purge)] = []
    /// The number of open visits, by the purge count at their start.
    private var visits: [Int: Int] = [:]

    /// The number of remembered purges; those before the start of all open visits are dropped.
    var length: Int { purges.count }

    /// - Returns: The purge count that identifies the visit.
    mutating func begin() -> Int {
        visits[count, default: 0] += 1
        return count
    }

    mutating func end(_ start: Int) {
        let others = (visits[start] ?? 0) - 1
        visits[start] = others > 0 ? others : nil
        guard others <= 0, !purges.isEmpty else { return }
        let oldest = visits.keys.min() ?? count
        purges.removeAll { $0.number <= oldest }
    }

    mutating func note(_ purge: Purge) {
        count += 1
        if !visits.isEmpty { purges.append((count, purge)) }
    }

    /// Whether a matching purge came after a visit began.
    func hasForgotten(since start: Int, where matches: (Purge) -> Bool) -> Bool {
        guard count > start else { return false }
        return purges.contains { $0.number > start && matches($0.purge) }
    }
}

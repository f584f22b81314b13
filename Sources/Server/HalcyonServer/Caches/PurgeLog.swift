/// Which purges a request has to know of that was under way when they came: what it has found before may not
/// be kept.
struct PurgeLog {
    /// How many purges there were.
    private(set) var count = 0
    private var purges: [(number: Int, purge: Purge)] = []
    /// How many visits began after so many purges and have not ended.
    private var visits: [Int: Int] = [:]

    /// How many purges are remembered: none that all visits began after.
    var length: Int { purges.count }

    /// - Returns: What the visit is known by.
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

    /// Whether something was forgotten after a visit began.
    func hasForgotten(since start: Int, where matches: (Purge) -> Bool) -> Bool {
        guard count > start else { return false }
        return purges.contains { $0.number > start && matches($0.purge) }
    }
}

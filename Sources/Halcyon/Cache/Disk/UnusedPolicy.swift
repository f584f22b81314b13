import Foundation

/// Whether a cache folder was left alone for so long that its files go.
struct UnusedPolicy {
    /// Seconds without use; `nil` for any time.
    private(set) var limit: TimeInterval?
    /// The last use by this process, which the index may not know of.
    private var lastUse = Date.distantPast
    private var needsCheck = false

    /// A new limit has to be checked once before the files are used.
    mutating func setLimit(_ limit: TimeInterval?) {
        guard limit != self.limit else { return }
        self.limit = limit
        needsCheck = limit != nil
    }

    mutating func noteUse(at date: Date) {
        lastUse = max(lastUse, date)
    }

    /// Whether to check now, which is then done.
    mutating func takeCheck() -> Bool {
        defer { needsCheck = false }
        return needsCheck
    }

    /// Whether the limit is over at `date`, given the index's last access in seconds since 1970.
    func isUnused(lastAccess: Double, at date: Date) -> Bool {
        guard let limit else { return false }
        let last = max(Date(timeIntervalSince1970: lastAccess), lastUse)
        return date.timeIntervalSince(last) > limit
    }
}

import Foundation

/// Accesses that are not yet in the index: writing each at once would make every hit a write.
struct AccessLog {
    /// The last access to a file.
    struct Access: Sendable {
        /// The time of the access; seconds since 1970.
        var accessed: Double
        /// The file's new expiration; seconds since 1970.
        var expires: Double
    }

    /// The number of accesses after which the log should be written.
    static let capacity = 256

    /// The identity of a response in the index.
    struct ResponseID: Hashable, Sendable {
        let key: String
        let variant: Data
    }

    private(set) var accesses: [String: Access] = [:]
    /// The last uses of responses; seconds since 1970.
    private(set) var responses: [ResponseID: Double] = [:]

    var isEmpty: Bool { accesses.isEmpty && responses.isEmpty }
    var isFull: Bool { accesses.count + responses.count >= Self.capacity }

    /// Notes an access and returns whether it is the first one in the log.
    mutating func note(_ access: Access, of name: String) -> Bool {
        let isFirst = isEmpty
        accesses[name] = access
        return isFirst
    }

    /// Notes the use of a response and returns whether it is the first thing in the log.
    mutating func note(_ use: Double, of response: ResponseID) -> Bool {
        let isFirst = isEmpty
        responses[response] = use
        return isFirst
    }

    /// The row as it will be once the log is written.
    func applied(to row: IndexRow) -> IndexRow {
        guard let access = accesses[row.name], access.accessed > row.accessed else { return row }
        var row = row
        row.accessed = access.accessed
        row.expires = access.expires
        return row
    }

    /// Empties the log and returns what was in it.
    mutating func take() -> AccessLog {
        defer { self = AccessLog() }
        return self
    }
}

/// Rows of files that were stored while the index was unavailable.
///
/// They are written with the next transaction. Until then only this process knows them.
struct UnwrittenRows {
    /// The largest number of rows; further ones are dropped, and their files are misses.
    private static let capacity = 4096

    private var rows: [String: IndexRow] = [:]

    var isEmpty: Bool { rows.isEmpty }

    func row(_ name: String) -> IndexRow? { rows[name] }

    /// Notes a row and returns whether it is the first one.
    mutating func note(_ row: IndexRow) -> Bool {
        let isFirst = rows.isEmpty
        if rows.count < Self.capacity || rows[row.name] != nil { rows[row.name] = row }
        return isFirst
    }

    mutating func forget(_ name: String) {
        rows[name] = nil
    }

    /// Forgets all rows and returns them.
    mutating func take() -> [IndexRow] {
        defer { rows = [:] }
        return Array(rows.values)
    }
}

/// Rows of recently read files, so that reading them again needs no query.
///
/// A row is valid only for the very file it was read for: any process that stores, replaces or
/// removes a file makes it another one. Damage is found by the checksum in the row.
struct IndexMirror {
    /// A row and the file it belongs to.
    struct Entry: Sendable {
        var row: IndexRow
        let stamp: DiskFile.Stamp
        /// The derivation of the file, if known: it is valid for bytes of the row's checksum, even
        /// if the response changes.
        var derivation: Derivation?
    }

    /// The number of recent entries after which the former ones are dropped.
    private static let generation = 2048

    private var recent: [String: Entry] = [:]
    /// Formerly recent entries that have not been used since.
    private var former: [String: Entry] = [:]

    /// Returns the entry of a file and marks it as recent.
    mutating func entry(_ name: String) -> Entry? {
        if let entry = recent[name] { return entry }
        guard let entry = former[name] else { return nil }
        set(entry, of: name)
        return entry
    }

    /// Sets or removes the row of a file.
    mutating func set(_ entry: Entry?, of name: String) {
        former[name] = nil
        recent[name] = entry
        if recent.count >= Self.generation {
            former = recent
            recent = [:]
        }
    }

    /// Notes the derivation of a file with this checksum.
    mutating func note(_ derivation: Derivation?, of name: String, checksum: Int64?) {
        guard var entry = entry(name), entry.row.checksum == checksum else { return }
        entry.derivation = derivation
        set(entry, of: name)
    }

    /// Updates the row after an access.
    mutating func note(_ access: AccessLog.Access, of name: String) {
        guard var entry = entry(name) else { return }
        entry.row.accessed = access.accessed
        entry.row.expires = access.expires
        set(entry, of: name)
    }
}

/// Decides whether a cache folder has been unused for so long that its files are removed.
struct UnusedPolicy {
    /// Seconds without use; `nil` for no limit.
    private(set) var limit: TimeInterval?
    /// The last use by this process, which the index may not have yet.
    private var lastUse = Date.distantPast
    private var needsCheck = false

    /// Sets the limit; a new one has to be checked once before the files are used.
    mutating func setLimit(_ limit: TimeInterval?) {
        guard limit != self.limit else { return }
        self.limit = limit
        needsCheck = limit != nil
    }

    mutating func noteUse(at date: Date) {
        lastUse = max(lastUse, date)
    }

    /// Whether a check is due; resets the flag.
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

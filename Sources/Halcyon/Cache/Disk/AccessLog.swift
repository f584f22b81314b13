import Foundation

/// Accesses that are not in the index yet: writing each one at once would make every hit a write.
struct AccessLog {
    /// The last access to a file.
    struct Access: Sendable {
        /// When; seconds since 1970.
        var accessed: Double
        /// When the file expires since; seconds since 1970.
        var expires: Double
    }

    /// Accesses after which the log should be written.
    static let capacity = 256

    private(set) var accesses: [String: Access] = [:]

    var isFull: Bool { accesses.count >= Self.capacity }

    /// Notes an access and returns whether it is the first one in the log.
    mutating func note(_ access: Access, of name: String) -> Bool {
        let isFirst = accesses.isEmpty
        accesses[name] = access
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
    mutating func take() -> [String: Access] {
        defer { accesses = [:] }
        return accesses
    }
}

/// Rows of files that were stored while the index could not be used.
///
/// They are written with the next transaction. Until then only this process knows what is in the files.
struct UnwrittenRows {
    /// More are forgotten: their files are misses then.
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

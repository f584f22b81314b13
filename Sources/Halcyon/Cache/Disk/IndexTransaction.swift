import Foundation
import GRDB

/// Changes of the index that take effect together.
struct IndexTransaction {
    let db: Database

    /// The version of the tables; 0 when there are none yet.
    func version() throws -> Int {
        try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    }

    /// Notes the version of the tables.
    func setVersion(_ version: Int) throws {
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    /// The row of a file.
    func row(named name: String) throws -> IndexRow? {
        let statement = try db.cachedStatement(
            sql: "SELECT key, size, checksum, expires, accessed, format FROM files WHERE name = ?")
        return try Row.fetchOne(statement, arguments: [name]).map {
            IndexRow(
                name: name, key: $0[0], size: $0[1], checksum: $0[2], expires: $0[3],
                accessed: $0[4], format: $0[5])
        }
    }

    /// Adds a row, or replaces that of the same name.
    func upsert(_ row: IndexRow) throws {
        try execute(
            """
            INSERT INTO files (name, key, size, checksum, expires, accessed, format)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET
                key = excluded.key, size = excluded.size, checksum = excluded.checksum,
                expires = excluded.expires, accessed = excluded.accessed, format = excluded.format
            """,
            [row.name, row.key, row.size, row.checksum, row.expires, row.accessed, row.format])
    }

    /// Removes the row of a file.
    func delete(_ name: String) throws {
        try execute("DELETE FROM files WHERE name = ?", [name])
    }

    /// Removes all rows.
    func deleteAll() throws {
        // With a condition SQLite visits each row, so that the total follows.
        try execute("DELETE FROM files WHERE true", [])
    }

    /// Writes accesses into the rows they belong to.
    func apply(_ accesses: [String: AccessLog.Access]) throws {
        for (name, access) in accesses {
            try execute(
                "UPDATE files SET accessed = ?1, expires = ?2 WHERE name = ?3 AND accessed < ?1",
                [access.accessed, access.expires, name])
        }
    }

    /// Notes what reading a file found that was adopted by a rebuild.
    func complete(_ name: String, checksum: Int64, format: String?) throws {
        try execute(
            "UPDATE files SET checksum = ?, format = ? WHERE name = ? AND checksum IS NULL",
            [checksum, format, name])
    }

    /// Bytes of all files.
    func totalSize() throws -> Int {
        try Int.fetchOne(db.cachedStatement(sql: "SELECT bytes FROM total")) ?? 0
    }

    /// The names of all files.
    func names() throws -> Set<String> {
        try String.fetchSet(db.cachedStatement(sql: "SELECT name FROM files"))
    }

    /// When a file was last used, in seconds since 1970; `nil` when there is none.
    func lastAccess() throws -> Double? {
        try Double.fetchOne(db.cachedStatement(sql: "SELECT max(accessed) FROM files"))
    }

    /// The names of the files that expire at `date` or before.
    func namesExpired(at date: Date) throws -> [String] {
        try String.fetchAll(
            db.cachedStatement(sql: "SELECT name FROM files WHERE expires <= ?"),
            arguments: [date.timeIntervalSince1970])
    }

    /// The files to remove, those used longest ago first, so that at most `limit` bytes remain; `kept`
    /// is none of them.
    func namesToEvict(downTo limit: Int, keeping kept: String?) throws -> [String] {
        var total = try totalSize()
        guard total > limit else { return [] }
        var names: [String] = []
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT name, size FROM files ORDER BY accessed"))
        while total > limit, let row = try rows.next() {
            if row[0] == kept { continue }
            names.append(row[0])
            total -= row[1] as Int
        }
        return names
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

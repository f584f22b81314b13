import Foundation
import GRDB

/// Changes of the index that take effect together.
struct IndexTransaction {
    let db: Database

    /// Notes the version of the tables.
    func setVersion(_ version: Int) throws {
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    /// The row of a file.
    func row(named name: String) throws -> IndexRow? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(IndexRow.columns) FROM files WHERE name = ?")
        return try Row.fetchOne(statement, arguments: [name]).map { try IndexRow($0) }
    }

    /// All rows, those of files used last first.
    func rows() throws -> [IndexRow] {
        try all("SELECT \(IndexRow.columns) FROM files ORDER BY accessed DESC, name")
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

    /// Adds rows that could not be written before, as far as their files are still there.
    func add(_ rows: [IndexRow], in folder: CacheFolder) throws {
        for row in rows {
            guard let file = folder.metadata(row.name), file.isRegular, file.size == row.size else {
                continue
            }
            try upsert(row)
        }
    }

    /// Removes the row of a file.
    func delete(_ name: String) throws {
        try execute("DELETE FROM files WHERE name = ?", [name])
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
        let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT bytes FROM total"))
        guard let row else { throw DatabaseError.senseless }
        let bytes: Int = try IndexRow.value(of: row[0])
        guard bytes >= 0 else { throw DatabaseError.senseless }
        return bytes
    }

    /// Makes sure that all rows make sense and that the total is theirs.
    /// - Throws: `DatabaseError` that tells of damage when it is not so.
    func check() throws {
        let total = try totalSize()
        // A name with a NUL would be read up to there only.
        let cutNames = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM files WHERE instr(name, char(0)) > 0")
        let rows = try rows()
        guard rows.reduce(0, { $0 &+ $1.size }) == total, cutNames == 0 else {
            throw DatabaseError.senseless
        }
        // One that is no Unicode is read with replacement characters; no statement finds its row by that.
        for row in rows where row.name.contains("\u{FFFD}") {
            guard try self.row(named: row.name) != nil else { throw DatabaseError.senseless }
        }
    }

    /// When a file was last used, in seconds since 1970; `nil` when there is none.
    func lastAccess() throws -> Double? {
        try all("SELECT \(IndexRow.columns) FROM files ORDER BY accessed DESC LIMIT 1").first?
            .accessed
    }

    /// The files that expire at `date` or before.
    func expired(at date: Date) throws -> [IndexRow] {
        try all(
            "SELECT \(IndexRow.columns) FROM files WHERE expires <= ?",
            [date.timeIntervalSince1970])
    }

    /// The files to remove, those used longest ago first, so that at most `limit` bytes remain, of those
    /// that `isRemovable` allows.
    func filesToEvict(
        downTo limit: Int, where isRemovable: (String) -> Bool
    ) throws -> [IndexRow] {
        var total = try totalSize()
        guard total > limit else { return [] }
        var files: [IndexRow] = []
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT \(IndexRow.columns) FROM files ORDER BY accessed"))
        while total > limit, let row = try rows.next() {
            let file = try IndexRow(row)
            guard isRemovable(file.name) else { continue }
            files.append(file)
            total -= file.size
        }
        return files
    }

    private func all(_ sql: String, _ arguments: StatementArguments = []) throws -> [IndexRow] {
        let cursor = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
        var rows: [IndexRow] = []
        while let row = try cursor.next() { rows.append(try IndexRow(row)) }
        return rows
    }

    private func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

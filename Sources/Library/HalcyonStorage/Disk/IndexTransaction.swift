import Foundation
import GRDB

/// Changes of the index that take effect together.
struct IndexTransaction {
    let db: Database
    let folder: CacheFolder
    /// Whether the tables of responses exist. Without them no response is known.
    var hasResponses = true

    func setVersion(_ version: Int) throws {
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    func row(named name: String) throws -> IndexRow? {
        try files("WHERE name = ?", [name]).first
    }

    /// All rows, the last used first.
    func rows() throws -> [IndexRow] {
        try files("ORDER BY accessed DESC, name")
    }

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

    func delete(_ name: String) throws {
        try execute("DELETE FROM files WHERE name = ?", [name])
    }

    /// Writes a log, of its rows those whose files still exist.
    func apply(_ log: IndexLog) throws {
        for (name, access) in log.accesses {
            try execute(
                "UPDATE files SET accessed = ?1, expires = ?2 WHERE name = ?3 AND accessed < ?1",
                [access.accessed, access.expires, name])
        }
        if hasResponses { try apply(log.responses) }
        for row in log.rows.values {
            guard let file = folder.metadata(row.name), file.isRegular, file.size == row.size else {
                continue
            }
            try upsert(row)
        }
    }

    /// Completes the row of an adopted file after its first read.
    func complete(_ name: String, checksum: Int64, format: String?) throws {
        try execute(
            "UPDATE files SET checksum = ?, format = ? WHERE name = ? AND checksum IS NULL",
            [checksum, format, name])
    }

    func totalSize() throws -> Int {
        guard let row = try fetchOne("SELECT bytes FROM total") else {
            throw DatabaseError.senseless
        }
        let bytes: Int = try IndexRow.value(of: row[0])
        guard bytes >= 0 else { throw DatabaseError.senseless }
        return bytes
    }

    /// Checks that all rows are valid and that the total is their sum.
    /// - Throws: `DatabaseError` that tells of damage when not.
    func check() throws {
        let total = try totalSize()
        // SQLite would end a name at a NUL.
        let cutNames = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM files WHERE instr(name, char(0)) > 0")
        let rows = try rows()
        guard rows.reduce(0, { $0 &+ $1.size }) == total, cutNames == 0 else {
            throw DatabaseError.senseless
        }
        // Invalid Unicode is read as replacement characters; no statement finds its row by that.
        for row in rows where row.name.unicodeScalars.contains("\u{FFFD}") {
            guard try self.row(named: row.name) != nil else { throw DatabaseError.senseless }
        }
    }

    /// The time of the last use of any file, in seconds since 1970; `nil` when there is none.
    func lastAccess() throws -> Double? {
        try files("ORDER BY accessed DESC LIMIT 1").first?.accessed
    }

    /// The files that expire at `date` or before.
    func expired(at date: Date) throws -> [IndexRow] {
        try files("WHERE expires <= ?", [date.timeIntervalSince1970])
    }

    /// The removable files to evict, least recently used first, so that at most `limit` bytes
    /// remain.
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

    private func files(
        _ rest: String, _ arguments: StatementArguments = []
    ) throws -> [IndexRow] {
        let cursor = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT \(IndexRow.columns) FROM files \(rest)"),
            arguments: arguments)
        var rows: [IndexRow] = []
        while let row = try cursor.next() { rows.append(try IndexRow(row)) }
        return rows
    }

    func fetchOne(_ sql: String, _ arguments: StatementArguments = []) throws -> Row? {
        try Row.fetchOne(db.cachedStatement(sql: sql), arguments: arguments)
    }

    func fetchAll(_ sql: String, _ arguments: StatementArguments = []) throws -> [Row] {
        try Row.fetchAll(db.cachedStatement(sql: sql), arguments: arguments)
    }

    /// The number of rows that `rest`, from `FROM` on, selects.
    func count(_ rest: String, _ arguments: StatementArguments = []) throws -> Int {
        try Int.fetchOne(
            db.cachedStatement(sql: "SELECT count(*) \(rest)"), arguments: arguments) ?? 0
    }

    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try db.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

extension IndexTransaction {
    enum Origin: Equatable {
        case ours
        /// Ours, without the tables of responses.
        case former
        /// A newer version, whose tables of files are compatible, and those of responses perhaps.
        /// Its other tables stay as they are.
        case newer(hasResponses: Bool)
        /// A newer version with incompatible tables of files.
        case notUnderstood
        /// An index of another version, an incomplete one, or an empty database.
        case outdated
        case foreign
    }

    func fill(_ applicationID: Int, _ version: Int, _ rows: [IndexRow]) throws {
        for statement in Self.schema { try db.execute(sql: statement) }
        try db.execute(sql: "INSERT INTO total VALUES (0)")
        try addResponseTables()
        for row in rows { try upsert(row) }
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try setVersion(version)
    }

    /// Determines the database's origin, reading nothing but its schema.
    func origin(_ applicationID: Int, _ version: Int) throws -> Origin {
        let isMarked = try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
        // No statement of ours is longer, and none are more.
        let found = try String.fetchSet(
            db,
            sql: """
                SELECT CAST(substr(sql, 1, 2000) AS TEXT) FROM sqlite_master
                WHERE sql IS NOT NULL LIMIT 100
                """)
        if isMarked {
            let foundVersion = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            let isInPlace = try String.fetchOne(db, sql: "PRAGMA journal_mode") != "wal"
            if foundVersion > version {
                guard isInPlace, try understands(Self.schema, among: found) else {
                    return .notUnderstood
                }
                return .newer(hasResponses: try understands(Self.responseSchema, among: found))
            }
            guard foundVersion == version, isInPlace else { return .outdated }
            let whole = Set(Self.schema + Self.responseSchema)
            // A newer Halcyon may have added tables, which keep what they have. Anything else that is
            // added, a trigger for example, would run with our own statements.
            if whole.isSubset(of: found),
                found.subtracting(whole).allSatisfy({ $0.hasPrefix("CREATE TABLE ") })
            {
                return .ours
            }
            return found == Set(Self.schema) ? .former : .outdated
        }
        let isFormer = ["CREATE TABLE files (\n    name TEXT PRIMARY KEY", "CREATE TABLE total ("]
            .allSatisfy { beginning in found.contains { $0.hasPrefix(beginning) } }
        return found.isEmpty || isFormer ? .outdated : .foreign
    }

    /// Whether the tables that `schema` makes are there with all that our statements need: their columns, and the
    /// triggers, for which others rely on us. Other columns do not matter as long as they may be left out, nor do
    /// indexes that demand nothing.
    private func understands(_ schema: [String], among found: Set<String>) throws -> Bool {
        guard schema.allSatisfy({ !$0.hasPrefix("CREATE TRIGGER ") || found.contains($0) }) else {
            return false
        }
        // Made in memory, to have SQLite's own words of both.
        let own = try DatabaseQueue()
        let tables: [String: Set<Column>] = try own.write { own in
            for statement in schema where !statement.hasPrefix("CREATE TRIGGER ") {
                try own.execute(sql: statement)
            }
            let names = try String.fetchAll(
                own, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            return try Dictionary(
                uniqueKeysWithValues: names.map { ($0, Set(try Column.all(of: $0, in: own))) })
        }
        return try tables.allSatisfy { name, columns in
            // A view or a virtual table has no page of its own.
            let isTable = try Bool.fetchOne(
                db,
                sql: """
                    SELECT count(*) FROM sqlite_master
                    WHERE type = 'table' AND name = ? AND rootpage > 0
                    """, arguments: [name])
            let demands = try Bool.fetchOne(
                db,
                sql: #"SELECT count(*) FROM pragma_index_list(?) WHERE "unique" AND origin = 'c'"#,
                arguments: [name])
            let found = try Column.all(of: name, in: db)
            return isTable == true && demands == false && columns.isSubset(of: found)
                && found.allSatisfy { columns.contains($0) || $0.canBeLeftOut }
        }
    }

    private struct Column: Hashable {
        let name: String
        let type: String
        let isRequired: Bool
        let keyPlace: Int
        let hasDefault: Bool

        var canBeLeftOut: Bool { keyPlace == 0 && (!isRequired || hasDefault) }

        static func all(of table: String, in db: Database) throws -> [Column] {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT name, type, "notnull", pk, dflt_value IS NOT NULL
                    FROM pragma_table_xinfo(?)
                    """, arguments: [table])
            return rows.map {
                Column(
                    name: $0[0], type: $0[1], isRequired: $0[2], keyPlace: $0[3], hasDefault: $0[4])
            }
        }
    }

    private static let schema = [
        """
        CREATE TABLE files (
            name TEXT PRIMARY KEY NOT NULL,
            key TEXT,
            size INTEGER NOT NULL,
            checksum INTEGER,
            expires REAL NOT NULL,
            accessed REAL NOT NULL,
            format TEXT
        ) WITHOUT ROWID
        """,
        "CREATE INDEX files_by_access ON files (accessed)",
        "CREATE TABLE total (bytes INTEGER NOT NULL)",
        """
        CREATE TRIGGER file_added AFTER INSERT ON files BEGIN
            UPDATE total SET bytes = bytes + NEW.size;
        END
        """,
        """
        CREATE TRIGGER file_resized AFTER UPDATE OF size ON files BEGIN
            UPDATE total SET bytes = bytes + NEW.size - OLD.size;
        END
        """,
        """
        CREATE TRIGGER file_removed AFTER DELETE ON files BEGIN
            UPDATE total SET bytes = bytes - OLD.size;
        END
        """,
    ]
}

struct IndexRow: Sendable, Equatable {
    var name: String
    /// The key it was stored for, without its secrets; `nil` for a file found when the index was
    /// rebuilt.
    var key: String?
    /// Bytes.
    var size: Int
    /// XXH3-64 of the bytes; `nil` until a file found by a rebuild is first read.
    var checksum: Int64?
    /// The expiration; seconds since 1970.
    var expires: Double
    /// The time of the last use; seconds since 1970.
    var accessed: Double
    /// The image format; `nil` when it is not known.
    var format: String?

    /// "Never" is any time from here on, so that it survives arithmetic and rounding.
    static let never = Date.distantFuture.timeIntervalSince1970

    /// The expiration after an access at `now`; `nil` when the access is not to be noted.
    func expiration(
        extending: ExpirationExtending, now: Date
    ) -> Double? {
        switch extending {
        case .none: nil
        case .cacheTime:
            expires >= Self.never ? expires : now.timeIntervalSince1970 + (expires - accessed)
        case .expirationTime(let expiration):
            expiration.estimatedExpirationSince(now).timeIntervalSince1970
        }
    }
}

extension IndexRow {
    static let columns = "name, key, size, checksum, expires, accessed, format"

    /// A size above that of any file, in bytes.
    private static let excessiveSize = 1 << 50

    /// Reads a row of the index, which is untrusted.
    /// - Throws: `DatabaseError` that tells of damage when no cache writes such a row.
    init(_ row: Row) throws(DatabaseError) {
        name = try Self.value(of: row[0])
        key = try Self.optional(row[1])
        size = try Self.value(of: row[2])
        checksum = try Self.optional(row[3])
        expires = try Self.time(row[4])
        accessed = try Self.time(row[5])
        format = try Self.optional(row[6])
        guard CacheFileName.isSound(name), (0..<Self.excessiveSize).contains(size) else {
            throw .senseless
        }
    }

    /// A value of a column.
    /// - Throws: `DatabaseError` that tells of damage when it has another type.
    static func value<T: DatabaseValueConvertible>(
        of column: DatabaseValue
    ) throws(DatabaseError) -> T {
        // No column has any. A name of bytes would read as a text that no statement finds it by.
        if case .blob = column.storage { throw .senseless }
        guard let value = T.fromDatabaseValue(column) else { throw .senseless }
        return value
    }

    static func optional<T: DatabaseValueConvertible>(
        _ column: DatabaseValue
    ) throws(DatabaseError) -> T? {
        column.isNull ? nil : try value(of: column)
    }

    /// Seconds since 1970 that fit into a date.
    static func time(_ column: DatabaseValue) throws(DatabaseError) -> Double {
        min(max(try value(of: column), -never), never)
    }
}

extension DatabaseError {
    /// The index holds what no cache writes.
    static var senseless: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CORRUPT, message: "the index holds rows that make no sense")
    }
}

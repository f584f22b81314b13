import Foundation
import GRDB

/// Server responses and the files derived from them.
///
/// A row of `derivations` is valid only for the file with its checksum: replacing the file, in
/// whatever way, invalidates it. A response with content is removed with the last of its files.
extension IndexTransaction {
    static let responseSchema = [
        // The fields stand behind all that a search reads.
        """
        CREATE TABLE responses (
            id INTEGER PRIMARY KEY,
            key TEXT NOT NULL,
            variant BLOB NOT NULL,
            vary TEXT NOT NULL,
            url TEXT NOT NULL,
            status INTEGER NOT NULL,
            requested REAL NOT NULL,
            received REAL NOT NULL,
            generation INTEGER NOT NULL,
            body_length INTEGER,
            body_checksum INTEGER,
            fresh_until REAL NOT NULL,
            invalidated INTEGER NOT NULL,
            used REAL NOT NULL,
            fields BLOB NOT NULL,
            UNIQUE (key, variant)
        )
        """,
        "CREATE INDEX responses_by_use ON responses (used)",
        "CREATE INDEX responses_without_content ON responses (status, used) WHERE generation = 0",
        """
        CREATE TABLE derivations (
            name TEXT PRIMARY KEY NOT NULL,
            checksum INTEGER,
            origin INTEGER NOT NULL,
            response INTEGER,
            generation INTEGER,
            is_original INTEGER NOT NULL
        ) WITHOUT ROWID
        """,
        "CREATE INDEX derivations_by_response ON derivations (response)",
        """
        CREATE TRIGGER derived_file_changed AFTER UPDATE OF checksum ON files
        WHEN OLD.checksum IS NOT NEW.checksum BEGIN
            DELETE FROM derivations WHERE name = OLD.name;
        END
        """,
        """
        CREATE TRIGGER derived_file_removed AFTER DELETE ON files BEGIN
            DELETE FROM derivations WHERE name = OLD.name;
        END
        """,
        """
        CREATE TRIGGER derivation_changed AFTER UPDATE OF response ON derivations
        WHEN OLD.response IS NOT NEW.response BEGIN
            DELETE FROM responses WHERE id = OLD.response AND generation <> 0
                AND NOT EXISTS (SELECT 1 FROM derivations WHERE response = OLD.response);
        END
        """,
        """
        CREATE TRIGGER derivation_removed AFTER DELETE ON derivations
        WHEN OLD.response IS NOT NULL BEGIN
            DELETE FROM responses WHERE id = OLD.response AND generation <> 0
                AND NOT EXISTS (SELECT 1 FROM derivations WHERE response = OLD.response);
        END
        """,
        """
        CREATE TRIGGER response_removed AFTER DELETE ON responses BEGIN
            DELETE FROM derivations WHERE response = OLD.id;
        END
        """,
    ]

    func addResponseTables() throws {
        for statement in Self.responseSchema { try db.execute(sql: statement) }
    }

    // MARK: Reading

    func response(_ id: IndexLog.ResponseID) throws -> ResponseRow? {
        try responses("key = ? AND variant = ifnull(?, x'')", [id.key, id.variant]).first
    }

    func responses(forKey key: String) throws -> [ResponseRow] {
        try responses("key = ?", [key])
    }

    private func responses(
        _ condition: String, _ arguments: StatementArguments
    ) throws -> [ResponseRow] {
        try fetchAll("SELECT \(ResponseRow.columns) FROM responses WHERE \(condition)", arguments)
            .map { try ResponseRow($0) }
    }

    /// The row numbers of matching responses, the last used first. Header fields are not read.
    func responseNumbers(where matches: (_ key: String, _ url: String) -> Bool) throws -> [Int64] {
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT id, key, url FROM responses ORDER BY used DESC, id"))
        var numbers: [Int64] = []
        while let row = try rows.next() {
            guard try matches(IndexRow.value(of: row[1]), IndexRow.value(of: row[2])) else {
                continue
            }
            numbers.append(try IndexRow.value(of: row[0]))
        }
        return numbers
    }

    /// A row by its number, with the files derived from its current generation; `nil` when it is
    /// gone.
    func response(_ number: Int64) throws -> (row: ResponseRow, files: [String])? {
        guard let row = try responses("id = ?", [number]).first else { return nil }
        let files = try fetchAll(
            """
            SELECT files.name FROM responses \(Self.derivedFiles)
            WHERE responses.id = ? AND derivations.generation = responses.generation
            ORDER BY files.name
            """, [number])
        return (row, try files.map { try Self.name($0[0]) })
    }

    /// The files derived from a generation of a response, with their stored keys.
    func files(
        ofResponse id: IndexLog.ResponseID, generation: Int64
    ) throws -> [(name: String, key: String?, processor: String?, isOriginal: Bool)] {
        try fetchAll(
            """
            SELECT files.name, files.key, derivations.is_original
            FROM responses \(Self.derivedFiles)
            WHERE responses.key = ? AND responses.variant = ifnull(?, x'')
                AND responses.generation = ?3 AND derivations.generation = ?3
            ORDER BY files.name
            """, [id.key, id.variant, generation]
        ).map { row in
            let isOriginal: Int64 = try IndexRow.value(of: row[2])
            let key: String? = try IndexRow.optional(row[1])
            return (
                try Self.name(row[0]), key.map(FileVariant.text),
                key.flatMap(FileVariant.init(rowKey:))?.processor, isOriginal != 0
            )
        }
    }

    /// The origin of a file, the checksum of the bytes that it is valid for, and the file's
    /// expiration in seconds since 1970; `nil` when there is no such file.
    func origin(of name: String) throws -> (FileOrigin, checksum: Int64?, expires: Double)? {
        let row = try fetchOne(
            """
            SELECT files.checksum, derivations.origin, derivations.generation,
                derivations.is_original, \(ResponseRow.columns), files.expires
            FROM files
            LEFT JOIN derivations ON derivations.name = files.name
                AND derivations.checksum = files.checksum
            LEFT JOIN responses ON responses.id = derivations.response
            WHERE files.name = ?
            """, [name])
        guard let row else { return nil }
        var origin = FileOrigin(derivation: nil, response: nil)
        switch try IndexRow.optional(row[1]) as Int64? {
        case nil: break
        case 1:
            // A derivation without its response is void.
            guard !(row[4] as DatabaseValue).isNull else { break }
            let response = try ResponseRow(row, from: 4)
            origin.response = response
            origin.derivation = .response(
                key: response.key, variant: response.variant,
                generation: try IndexRow.value(of: row[2]),
                isOriginal: try IndexRow.value(of: row[3]) as Int64 != 0)
        case 2: origin.derivation = .program
        default: throw DatabaseError.senseless
        }
        let expires = try IndexRow.time(row[4 + ResponseRow.columnCount])
        return (origin, try IndexRow.optional(row[0]), expires)
    }

    // MARK: Storing

    /// The generation and time of receipt of a stored response, for a decision about another one.
    struct ResponseHead {
        let id: Int64
        let generation: Int64
        let received: Double

        /// Whether this response is newer than one received at `date`. A response from the future
        /// was stored with a wrong clock and is never newer.
        func hasOvertaken(_ date: Double, now: Date) -> Bool {
            date < received && received <= now.timeIntervalSince1970
        }
    }

    func responseHead(_ id: IndexLog.ResponseID) throws -> ResponseHead? {
        try fetchOne(
            """
            SELECT id, generation, received FROM responses
            WHERE key = ? AND variant = ifnull(?, x'')
            """, [id.key, id.variant]
        ).map { row in
            ResponseHead(
                id: try IndexRow.value(of: row[0]), generation: try IndexRow.value(of: row[1]),
                received: try IndexRow.time(row[2]))
        }
    }

    /// Adds a response; returns its row number.
    func insert(_ row: ResponseRow) throws -> Int64 {
        try execute(
            """
            INSERT INTO responses (\(Self.writtenColumns)) VALUES (\(Self.writtenValues))
            """, row.arguments)
        return db.lastInsertedRowID
    }

    func update(_ id: Int64, to row: ResponseRow) throws {
        try execute(
            """
            UPDATE responses SET (\(Self.writtenColumns)) = (\(Self.writtenValues)) WHERE id = ?
            """, row.arguments + [id])
    }

    /// The columns of `ResponseRow.arguments`, and their places in a statement.
    private static let writtenColumns = """
        key, variant, vary, url, status, fields, requested, received, generation, body_length,
        body_checksum, fresh_until, invalidated, used
        """
    private static let writtenValues = "?, ifnull(?, x'')" + String(repeating: ", ?", count: 12)

    /// Notes the derivation of the file of these bytes; `response` is the row of the response that
    /// `derivation` names.
    func link(
        _ name: String, checksum: Int64?, to derivation: Derivation, response: Int64?
    ) throws {
        var origin = 2
        var generation: Int64?
        var isOriginal = false
        if case .response(_, _, let number, let original) = derivation {
            (origin, generation, isOriginal) = (1, number, original)
        }
        try execute(
            """
            INSERT INTO derivations (name, checksum, origin, response, generation, is_original)
            VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET
                checksum = excluded.checksum, origin = excluded.origin,
                response = excluded.response, generation = excluded.generation,
                is_original = excluded.is_original
            """, [name, checksum, origin, response, generation, isOriginal ? 1 : 0])
    }

    func unlink(_ name: String) throws {
        try execute("DELETE FROM derivations WHERE name = ?", [name])
    }

    // MARK: Removing

    /// The files derived from a response, of all generations but `current`.
    func files(madeOf response: Int64, except current: Int64? = nil) throws -> [String] {
        try fetchAll(
            """
            SELECT files.name FROM responses \(Self.derivedFiles)
            WHERE responses.id = ? AND derivations.generation IS NOT ?
            """, [response, current]
        ).map { try Self.name($0[0]) }
    }

    /// Removes the derivations of former generations of a response, and the response itself when it
    /// has content and no file.
    func forgetOutdated(_ response: Int64) throws {
        try execute(
            """
            DELETE FROM derivations WHERE response = ?1
                AND generation IS NOT (SELECT generation FROM responses WHERE id = ?1)
            """, [response])
        try execute(
            """
            DELETE FROM responses WHERE id = ?1 AND generation <> 0
                AND NOT EXISTS (SELECT 1 FROM derivations WHERE response = ?1)
            """, [response])
    }

    func deleteResponse(_ response: Int64) throws {
        try execute("DELETE FROM responses WHERE id = ?", [response])
    }

    func deleteAllResponses() throws {
        if hasResponses { try execute("DELETE FROM responses", []) }
    }

    struct ResponseLimits {
        var all = 100_000
        /// The limit of redirects and of remembered errors, each.
        var withoutContent = 10_000
        var variants = 16
        /// The number of additions between checks of the first two; so many fewer are left.
        var step: Int64 = 128
    }

    /// Enforces the limits after `added`: the least recently used responses are removed, and their
    /// derivations with them.
    func trimResponses(
        after added: Int64, of id: IndexLog.ResponseID, limits: ResponseLimits = ResponseLimits()
    ) throws {
        if !id.variant.isEmpty {
            let count = try count("FROM responses WHERE key = ?", [id.key])
            if count > limits.variants {
                try trimResponses(
                    where: "key = ?", [id.key, added, count - limits.variants])
            }
        }
        guard added % limits.step == 0 else { return }
        for (condition, limit) in [
            ("generation = 0 AND status BETWEEN 300 AND 399", limits.withoutContent),
            ("generation = 0 AND status NOT BETWEEN 300 AND 399", limits.withoutContent),
            ("true", limits.all),
        ] {
            let excess = try count("FROM responses WHERE \(condition)") - limit
            guard excess + Int(limits.step) > 0 else { continue }
            try trimResponses(where: condition, [added, excess + Int(limits.step)])
        }
    }

    /// - Parameter arguments: Those of `condition`, the response to keep, and the number to remove.
    private func trimResponses(where condition: String, _ arguments: StatementArguments) throws {
        try execute(
            """
            DELETE FROM responses WHERE id IN (
                SELECT id FROM responses WHERE \(condition) AND id <> ? ORDER BY used LIMIT ?)
            """, arguments)
    }

    // MARK: Changing

    /// Marks responses for validation before their next use; returns their number.
    func invalidate(_ responses: [IndexLog.ResponseID]) throws -> Int {
        var count = 0
        for id in responses {
            try execute(
                "UPDATE responses SET invalidated = 1 WHERE key = ? AND variant = ifnull(?, x'')",
                [id.key, id.variant])
            count += db.changesCount
        }
        return count
    }

    func responseNames() throws -> [(id: IndexLog.ResponseID, url: String)] {
        try fetchAll("SELECT key, variant, url FROM responses").map { row in
            let variant = try ResponseRow.bytes(row[1])
            return (
                IndexLog.ResponseID(key: try IndexRow.value(of: row[0]), variant: variant),
                try IndexRow.value(of: row[2])
            )
        }
    }

    func apply(_ uses: [IndexLog.ResponseID: Double]) throws {
        for (id, used) in uses {
            try execute(
                """
                UPDATE responses SET used = ?1
                WHERE key = ?2 AND variant = ifnull(?3, x'') AND used < ?1
                """, [used, id.key, id.variant])
        }
    }

    /// The valid derivations of responses, with their files.
    private static let derivedFiles = """
        JOIN derivations ON derivations.response = responses.id
        JOIN files ON files.name = derivations.name AND files.checksum = derivations.checksum
        """

    private static func name(_ column: DatabaseValue) throws -> String {
        let name: String = try IndexRow.value(of: column)
        guard CacheFileName.isSound(name) else { throw DatabaseError.senseless }
        return name
    }
}

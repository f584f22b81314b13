import Foundation
import GRDB

@testable import HalcyonStorage

extension FuzzTarget {
    /// Rows of responses and of what was made of them, with values of any type in any column: how they are
    /// read, and what is removed with them. An entry is fourteen values of a response and six of a
    /// derivation; the file of the derivation is there.
    static let responseRows = FuzzTarget(
        "response-rows",
        seeds: {
            let good = [UInt8](repeating: 0, count: 21)
            var seeds: [[UInt8]] = [good, good + good]
            for kind in UInt8(1)..<7 {
                let value = [kind] + [UInt8](repeating: 1, count: 8)
                seeds.append((0..<20).flatMap { _ in value })
            }
            for column in 0..<20 {
                var seed = good
                seed[column] = 6
                seeds.append(seed)
            }
            return seeds.map { Data($0) }
        }
    ) { data in
        var bytes = data[...]
        var entries: [ResponseRowFixture.Entry] = []
        while !bytes.isEmpty, entries.count < 10 {
            entries.append(ResponseRowFixture.Entry(from: &bytes))
        }
        try IndexFixture.database.writeWithoutTransaction { db in
            for entry in entries { try ResponseRowFixture.read(entry, db) }
            try db.inTransaction {
                try ResponseRowFixture.use(entries, db)
                return .rollback
            }
        }
    }
}

private enum ResponseRowFixture {
    struct Entry {
        let response: [IndexValue]
        let derivation: [IndexValue]

        init(from bytes: inout Data.SubSequence) {
            response = ResponseRowFixture.goodResponse.map { IndexValue(from: &bytes, good: $0) }
            derivation = ResponseRowFixture.goodDerivation.map {
                IndexValue(from: &bytes, good: $0)
            }
        }
    }

    /// In the order of `ResponseRow.columns`.
    private static let goodResponse: [DatabaseValue] = [
        "https://a.b/c".databaseValue, Data(repeating: 1, count: 32).databaseValue,
        "accept".databaseValue, "https://a.b/c".databaseValue, 200.databaseValue,
        Data("[]".utf8).databaseValue, 1e9.databaseValue, 1e9.databaseValue, 5.databaseValue,
        3.databaseValue, 1.databaseValue, 2e9.databaseValue, 0.databaseValue, 1e9.databaseValue,
    ]

    /// In the order of the table.
    private static let goodDerivation: [DatabaseValue?] = [
        nil, 1.databaseValue, 1.databaseValue, 1.databaseValue, 5.databaseValue, 0.databaseValue,
    ]

    /// Reads a row of exactly these values, whatever a table would make of them.
    static func read(_ entry: Entry, _ db: Database) throws {
        let found = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT \(IndexFixture.parameters(entry.response))"),
            arguments: StatementArguments(entry.response.map(\.value)))
        if let found, let row = try? ResponseRow(found) { check(row) }
    }

    /// Writes the rows as anybody could, and does with them what is done with rows.
    static func use(_ entries: [Entry], _ db: Database) throws {
        let index = IndexTransaction(db: db, folder: try CacheFolder("/"))
        for entry in entries {
            // What a table does not take is not in it.
            try? db.cachedStatement(
                sql: """
                    INSERT OR IGNORE INTO responses (key, variant, vary, url, status, fields,
                        requested, received, generation, body_length, body_checksum, fresh_until,
                        invalidated, used)
                    VALUES (\(IndexFixture.parameters(entry.response)))
                    """
            ).execute(arguments: StatementArguments(entry.response.map(\.value)))
            let name = entry.derivation[0].value
            try? db.cachedStatement(
                sql: "INSERT OR IGNORE INTO files VALUES (?, NULL, 3, 1, 2e9, 1e9, NULL)"
            ).execute(arguments: [name])
            try? db.cachedStatement(
                sql: """
                    INSERT OR IGNORE INTO derivations
                    VALUES (\(IndexFixture.parameters(entry.derivation)))
                    """
            ).execute(arguments: StatementArguments(entry.derivation.map(\.value)))
        }
        let numbers = (try? index.responseNumbers { _, _ in true }) ?? []
        for (row, files) in numbers.compactMap({ try? index.response($0) }) {
            check(row)
            check(files)
            let id = IndexLog.ResponseID(key: row.key, variant: row.variant)
            if let found = try? index.response(id) { check(found) }
            (try? index.responses(forKey: row.key))?.forEach(check)
        }
        for entry in entries {
            guard let name = String.fromDatabaseValue(entry.derivation[0].value),
                let origin = try? index.origin(of: name)?.0
            else { continue }
            if let response = origin.response { check(response) }
        }
        _ = try? index.responseNames()
        let limits = IndexTransaction.ResponseLimits(
            all: 4, withoutContent: 2, variants: 2, step: 1)
        let ids = try Int64.fetchAll(db, sql: "SELECT id FROM responses")
        for id in ids {
            if let files = try? index.files(madeOf: id) { check(files) }
            let variant = Data(repeating: 1, count: 32)
            try? index.trimResponses(
                after: id, of: .init(key: "https://a.b/c", variant: variant), limits: limits)
            try? index.forgetOutdated(id)
        }
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM responses") ?? 0
        precondition(count <= limits.all, "too many remain: \(count)")
        for id in ids { try index.deleteResponse(id) }
        let links = try Int.fetchOne(
            db, sql: "SELECT count(*) FROM derivations WHERE response IN (SELECT id FROM responses)"
        )
        precondition(links == 0, "a link without a response remains")
    }

    private static func check(_ row: ResponseRow) {
        precondition(row.isSound, "no cache writes such a row: \(row)")
    }

    private static func check(_ names: [String]) {
        precondition(names.allSatisfy(CacheFileName.isSound), "no file has such a name: \(names)")
    }
}

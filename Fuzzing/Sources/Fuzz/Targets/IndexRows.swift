import Foundation
import GRDB

@testable import HalcyonStorage

extension FuzzTarget {
    /// Rows of the cache's index, with values of any type in any column: how they are read, and what a
    /// cleaning would remove. After a byte for the limit of the cleaning, a row is seven values.
    static let indexRows = FuzzTarget(
        "index-rows",
        seeds: {
            func bytes(of word: UInt64) -> [UInt8] {
                withUnsafeBytes(of: word.bigEndian, Array.init)
            }
            let rest = [UInt8](repeating: 0, count: 6)
            let rows = (0..<4).map { [0, $0] + rest }
            let names = [
                "../victim.txt", "a", ".hidden", "a\0b", String(repeating: "a", count: 120),
            ]
            let sizes = [0, .max, 1 << 49, 1 << 63].map {
                [0, 5, 0, 2] + bytes(of: $0) + [0, 0, 0, 0]
            }
            let times = [-Double.infinity, 1e308, .nan, 253_402_300_800].map { time in
                [0, 6, 0, 0, 0, 3] + bytes(of: time.bitPattern) + [3]
                    + bytes(of: (-time).bitPattern) + [0]
            }
            let seeds =
                [rows[0], rows.flatMap(\.self)] + sizes + times
                + names.map { [5, UInt8($0.utf8.count)] + Array($0.utf8) + rest }
                + (1..<7).map { kind in [kind] + Array(repeating: 65, count: 80) }
            return seeds.map { Data([4] + $0) }
        }
    ) { data in
        var bytes = data[...]
        guard let limit = bytes.popFirst().map({ Int($0) << 20 }) else { return }
        var rows: [[IndexValue]] = []
        while !bytes.isEmpty, rows.count < 20 {
            rows.append((0..<7).map { IndexValue(from: &bytes, column: $0) })
        }
        try IndexFixture.database.writeWithoutTransaction { db in
            for row in rows { try IndexFixture.read(row, db) }
            try db.inTransaction {
                try IndexFixture.clean(rows, downTo: limit, db)
                return .rollback
            }
        }
    }
}

/// A value in a column, and how it gets there.
struct IndexValue {
    let value: DatabaseValue
    /// Text of bytes that need not be UTF-8.
    let isCast: Bool

    /// The first byte chooses the type; 0 is what belongs into the column, for which a byte chooses one
    /// of 16 names.
    init(from bytes: inout Data.SubSequence, column: Int) {
        self.init(from: &bytes, good: column == 0 ? nil : Self.good[column])
    }

    /// `good` is what belongs into the column; `nil` for a name.
    init(from bytes: inout Data.SubSequence, good: DatabaseValue?) {
        let kind = (bytes.popFirst() ?? 0) % 7
        isCast = kind == 5
        value =
            switch kind {
            case 0: good ?? Self.digest(&bytes).databaseValue
            case 1: Int64(Int8(bitPattern: bytes.popFirst() ?? 0)).databaseValue
            case 2: Int64(bitPattern: Self.word(&bytes)).databaseValue
            case 3: Double(bitPattern: Self.word(&bytes)).databaseValue
            case 4, 5: Self.block(&bytes).databaseValue
            default: .null
            }
    }

    private static let good: [DatabaseValue] = [
        "name".databaseValue, "https://a.b/c".databaseValue, (3 << 20).databaseValue,
        1.databaseValue, 2e9.databaseValue, 1e9.databaseValue, "png".databaseValue,
    ]

    private static func digest(_ bytes: inout Data.SubSequence) -> String {
        String(repeating: String((bytes.popFirst() ?? 0) % 16, radix: 16), count: 64)
    }

    private static func word(_ bytes: inout Data.SubSequence) -> UInt64 {
        (0..<8).reduce(0) { word, _ in word << 8 | UInt64(bytes.popFirst() ?? 0) }
    }

    private static func block(_ bytes: inout Data.SubSequence) -> Data {
        let count = Int(bytes.popFirst() ?? 0)
        let block = Data(bytes.prefix(count))
        bytes = bytes.dropFirst(count)
        return block
    }
}

enum IndexFixture {
    static let now = Date(timeIntervalSince1970: 1_700_000_000)

    /// An index without files.
    static let database: DatabaseQueue = {
        do {
            let database = try DatabaseQueue()
            try database.write {
                try IndexTransaction(db: $0, folder: CacheFolder("/")).fill(1, 1, [])
            }
            return database
        } catch {
            fatalError("There is no index to work with: \(error)")
        }
    }()

    static func parameters(_ row: [IndexValue]) -> String {
        row.map { $0.isCast ? "CAST(? AS TEXT)" : "?" }.joined(separator: ", ")
    }

    /// Reads a row of exactly these values, whatever a table would make of them.
    static func read(_ row: [IndexValue], _ db: Database) throws {
        let found = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT \(parameters(row))"),
            arguments: StatementArguments(row.map(\.value)))
        if let found, let row = try? IndexRow(found) { check(row) }
    }

    /// Writes the rows as anybody could, and has the index say what is to be removed.
    static func clean(_ rows: [[IndexValue]], downTo limit: Int, _ db: Database) throws {
        for row in rows {
            // What the table does not take is not in it.
            try? db.cachedStatement(
                sql: "INSERT OR IGNORE INTO files VALUES (\(parameters(row)))"
            ).execute(arguments: StatementArguments(row.map(\.value)))
        }
        let index = IndexTransaction(db: db, folder: try CacheFolder("/"))
        if (try? index.check()) != nil {
            let (rows, total) = (try index.rows(), try index.totalSize())
            precondition(total == rows.reduce(0) { $0 + $1.size }, "the total is another one")
        }
        try? index.rows().forEach(check)
        try? index.expired(at: now).forEach { row in
            check(row)
            precondition(row.expires <= now.timeIntervalSince1970, "not expired: \(row)")
        }
        if let last = try? index.lastAccess() {
            var unused = UnusedPolicy()
            unused.setLimit(60)
            _ = unused.isUnused(lastAccess: last, at: now)
        }
        let evicted = try? index.filesToEvict(downTo: limit) { CacheFileName.isDigest($0) }
        precondition(evicted?.allSatisfy { CacheFileName.isDigest($0.name) } ?? true)
        guard let all = try? index.filesToEvict(downTo: limit, where: { _ in true }) else { return }
        all.forEach(check)
        for row in all { try index.delete(row.name) }
        guard (try? index.check()) != nil else { return }
        let rest = try index.totalSize()
        precondition(rest <= limit, "too much remains: \(rest)")
    }

    /// A row that was read is one that makes sense.
    private static func check(_ row: IndexRow) {
        precondition(CacheFileName.isSound(row.name), "no file has such a name: \(row.name)")
        precondition(row.size >= 0, "no file has such a size: \(row.size)")
        precondition(abs(row.expires) <= IndexRow.never && abs(row.accessed) <= IndexRow.never)
        for extending in [ExpirationExtending.cacheTime, .expirationTime(.days(1))] {
            let expires = row.expiration(extending: extending, now: now)
            precondition(expires?.isFinite == true, "expires at \(String(describing: expires))")
        }
    }
}

package import Foundation
import GRDB

/// The index row of a server's response, without its content. Header fields are not interpreted
/// here.
package struct ResponseRow: Sendable, Equatable {
    /// The key under which the response is found, together with `variant`.
    package var key: String
    /// Distinguishes responses of one key that depend on the request; empty for one that does not.
    package var variant: Data
    /// The names of the request fields that it depends on, joined by commas.
    package var vary: String
    package var url: String
    package var status: Int
    /// The header fields as JSON, `[[name, value], …]`: 1 MiB at most.
    package var fields: Data
    /// The time at which the request was sent; seconds since 1970, like all times here.
    package var requested: Double
    package var received: Double
    /// The identity of the received bytes. 0 for a response without content of interest: a
    /// redirect, or a remembered error.
    package var generation: Int64
    /// The length of the received content in bytes, and its XXH3-64.
    package var bodyLength: Int64?
    package var bodyChecksum: Int64?
    package var freshUntil: Double
    /// Whether it must be validated before it is used.
    package var isInvalidated: Bool
    /// The time of the last use.
    package var used: Double

    package init(
        key: String, variant: Data, vary: String, url: String, status: Int, fields: Data,
        requested: Double, received: Double, generation: Int64, bodyLength: Int64?,
        bodyChecksum: Int64?, freshUntil: Double, isInvalidated: Bool, used: Double
    ) {
        self.key = key
        self.variant = variant
        self.vary = vary
        self.url = url
        self.status = status
        self.fields = fields
        self.requested = requested
        self.received = received
        self.generation = generation
        self.bodyLength = bodyLength
        self.bodyChecksum = bodyChecksum
        self.freshUntil = freshUntil
        self.isInvalidated = isInvalidated
        self.used = used
    }
}

package struct ResponsePut: Sendable {
    package var row: ResponseRow
    /// The other variants of the key that it replaces: they are removed with their files.
    package var superseded: [Data]

    package init(row: ResponseRow, superseded: [Data] = []) {
        self.row = row
        self.superseded = superseded
    }
}

package enum Derivation: Sendable, Equatable {
    /// The program itself stored the file.
    case program
    /// The bytes of one generation of a response; `isOriginal` when the file holds just these.
    case response(key: String, variant: Data, generation: Int64, isOriginal: Bool)
}

package struct FileOrigin: Sendable, Equatable {
    package var derivation: Derivation?
    /// The row of the response, if it still exists. Its generation may have changed by now.
    package var response: ResponseRow?
}

extension ResponseRow {
    private static let fieldsLimit = 1 << 20
    private static let variantLimit = 64

    /// The columns read by `init(_:from:)`. Fields that are too long are not even fetched.
    static let columns = """
        responses.key, responses.variant, responses.vary, responses.url, responses.status,
        CASE WHEN length(responses.fields) <= \(fieldsLimit) THEN responses.fields END,
        responses.requested, responses.received, responses.generation, responses.body_length,
        responses.body_checksum, responses.fresh_until, responses.invalidated, responses.used
        """

    static let columnCount = 14

    /// Reads a row of the index, from the column `first` on. The row is untrusted.
    /// - Throws: `DatabaseError` that tells of damage when no cache writes such a row.
    init(_ row: Row, from first: Int = 0) throws(DatabaseError) {
        func column(_ number: Int) -> DatabaseValue { row[first + number] }
        try self.init(
            key: IndexRow.value(of: column(0)),
            variant: Self.bytes(column(1)),
            vary: IndexRow.value(of: column(2)),
            url: IndexRow.value(of: column(3)),
            status: IndexRow.value(of: column(4)),
            fields: Self.bytes(column(5)),
            requested: IndexRow.time(column(6)),
            received: IndexRow.time(column(7)),
            generation: IndexRow.value(of: column(8)),
            bodyLength: IndexRow.optional(column(9)),
            bodyChecksum: IndexRow.optional(column(10)),
            freshUntil: IndexRow.time(column(11)),
            isInvalidated: IndexRow.value(of: column(12)) as Int64 != 0,
            used: IndexRow.time(column(13)))
        guard isSound else { throw .senseless }
    }

    /// Whether a cache writes such rows.
    var isSound: Bool {
        // SQLite would end a text at a NUL, and no statement would find it.
        let isText = ![key, vary, url].contains { $0.utf8.contains(0) }
        return isText && !key.isEmpty && variant.count <= Self.variantLimit
            && fields.count <= Self.fieldsLimit && (0...999).contains(status) && generation >= 0
            && bodyLength ?? 0 >= 0
            && [requested, received, freshUntil, used].allSatisfy(\.isFinite)
    }

    /// Its values in the order of `IndexTransaction.insert`.
    var arguments: StatementArguments {
        [
            key, variant, vary, url, status, fields, requested, received, generation, bodyLength,
            bodyChecksum, freshUntil, isInvalidated ? 1 : 0, used,
        ]
    }

    static func bytes(_ column: DatabaseValue) throws(DatabaseError) -> Data {
        guard case .blob(let bytes) = column.storage else { throw .senseless }
        return bytes
    }
}

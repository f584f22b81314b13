import Foundation
import GRDB

/// What the index knows of a file.
struct IndexRow: Sendable, Equatable {
    /// The file's name.
    var name: String
    /// The key it was stored for, without its secrets; `nil` for a file found when the index was
    /// rebuilt.
    var key: String?
    /// Bytes.
    var size: Int
    /// XXH3-64 of the bytes; `nil` until a file found by a rebuild is first read.
    var checksum: Int64?
    /// When the file expires; seconds since 1970.
    var expires: Double
    /// When the file was last used; seconds since 1970.
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
    /// What `init(_:)` reads.
    static let columns = "name, key, size, checksum, expires, accessed, format"

    /// More bytes than any file has.
    private static let excessiveSize = 1 << 50

    /// A row as the index has it. Anybody may have written it.
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

    private static func optional<T: DatabaseValueConvertible>(
        _ column: DatabaseValue
    ) throws(DatabaseError) -> T? {
        column.isNull ? nil : try value(of: column)
    }

    /// Seconds since 1970 that fit into a date.
    private static func time(_ column: DatabaseValue) throws(DatabaseError) -> Double {
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

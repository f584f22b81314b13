public import Foundation
import GRDB

extension DiskStorage {
    /// What the index of a disk storage knows of a file.
    public struct Entry: Hashable, Sendable {
        /// The file's name in the storage's folder.
        public let fileName: String
        /// The key it was stored for, with the processor's identifier; `nil` for a file that was
        /// found when the index was rebuilt.
        public let key: String?
        /// Bytes.
        public let size: Int
        /// The image format; `nil` when it is not known.
        public let format: String?
        /// When it expires; `nil` for never.
        public let expiration: Date?
        /// When it was last used.
        public let lastAccess: Date

        init(_ row: IndexRow) {
            fileName = row.name
            key = row.key
            size = row.size
            format = row.format
            expiration =
                row.expires >= IndexRow.never ? nil : Date(timeIntervalSince1970: row.expires)
            lastAccess = Date(timeIntervalSince1970: row.accessed)
        }
    }
}

extension DiskStorage.Backend {
    /// All files, expired ones too, those used last first. Blocks.
    /// - Throws: an error of the index.
    public func entries() throws -> [DiskStorage.Entry] {
        let rows = try directory.withIndex(validated: true) { index in
            try index.write { transaction in
                try directory.applyAccesses(transaction)
                return try transaction.rows()
            }
        }
        return (rows ?? []).map(DiskStorage.Entry.init)
    }
}

extension IndexTransaction {
    /// All rows, those of files used last first.
    func rows() throws -> [IndexRow] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT name, key, size, checksum, expires, accessed, format FROM files
                ORDER BY accessed DESC, name
                """)
        return try Row.fetchAll(statement).map {
            IndexRow(
                name: $0[0], key: $0[1], size: $0[2], checksum: $0[3], expires: $0[4],
                accessed: $0[5], format: $0[6])
        }
    }
}

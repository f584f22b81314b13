public import Foundation

extension DiskStorage {
    /// What the index of a disk storage knows of a file.
    public struct Entry: Hashable, Sendable {
        /// The file's name in the storage's folder.
        public let fileName: String
        /// The key it was stored for, with the processor's identifier and `***` in place of passwords
        /// and other secrets of a URL; `nil` for a file that was found when the index was rebuilt.
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

extension DiskStorage {
    /// A file that was removed.
    public struct Removal: Hashable, Sendable {
        /// The file's name in the storage's folder.
        public let fileName: String
        /// Bytes.
        public let size: Int
    }
}

extension DiskStorage.Backend {
    /// All files, expired ones too, those used last first. Blocks.
    ///
    /// While others keep the index locked, these are the files in the folder, without their keys.
    /// - Throws: an error of the index.
    public func entries() throws -> [DiskStorage.Entry] {
        try directory.rows().map(DiskStorage.Entry.init)
    }

    /// Does what `removeAll()` does, and returns the files that were removed: also those that a crash
    /// left half written, which are no entries. Blocks.
    public func removeAllFiles() throws -> [DiskStorage.Removal] {
        try prepareDirectory()
        return try directory.removeAll().map {
            DiskStorage.Removal(fileName: $0.name, size: $0.size)
        }
    }
}

public import Foundation

/// The disk part of a cache.
public enum DiskStorage {
    /// The place, limits and file names of a disk storage.
    public struct Config: Sendable {
        /// The limit in bytes of all files together; 0 for no limit. Holds after each store.
        public var sizeLimit: UInt
        /// The lifetime of files that are stored without an expiration of their own.
        public var expiration: StorageExpiration = .days(7)
        /// Seconds after which an unused storage loses all its files, expired or not; `nil`, the
        /// default, for never. Storing and reading are uses. Looking whether a file is there is
        /// not, and neither is reading by another storage with an expiration that accesses do not
        /// extend. Holds when the storage is first used, and at each removal of expired values.
        public var wipesWhenUnusedFor: TimeInterval?
        /// The extension of all files; none by default.
        public var pathExtension: String?
        /// Whether files are named by the SHA-256 digest of their key. Otherwise by the key itself,
        /// with characters not allowed in a file name percent-encoded.
        public var usesHashedFileName = true
        /// Whether a hashed name gets the key's extension.
        public var autoExtAfterHashedFileName = false
        /// Makes the cache's folder of a parent folder and the cache's name; by default the folder
        /// of that name in the parent. Read once, when the storage is made, and `nil` afterwards.
        public var cachePathBlock: (@Sendable (_ directory: URL, _ cacheName: String) -> URL)! = {
            $0.appendingPathComponent($1, isDirectory: true)
        }
        /// The cache's name.
        public let name: String

        let fileManager: FileManager
        let directory: URL?

        /// The cache `name` of at most `sizeLimit` bytes.
        ///
        /// In `directory` the cache's folder is `com.onevcat.Kingfisher.ImageCache.<name>`; without
        /// one it is `halcyon/<name>` in `$XDG_CACHE_HOME`, or in `$HOME/.cache` when that is not set
        /// or no absolute path. `fileManager` makes the folder, for its owner alone; one that is there
        /// already keeps its permissions. Files are always their owner's alone.
        public init(
            name: String, sizeLimit: UInt, fileManager: FileManager = .default,
            directory: URL? = nil
        ) {
            self.name = name
            self.sizeLimit = sizeLimit
            self.fileManager = fileManager
            self.directory = directory
        }

        /// `sizeLimit` as the index counts; `nil` for no limit.
        var effectiveSizeLimit: Int? { sizeLimit > 0 ? Int(clamping: sizeLimit) : nil }
    }
}

extension DiskStorage {
    struct Location {
        let url: URL
        let isDefault: Bool

        /// `environment` determines the user's cache folder.
        init(
            _ config: Config,
            environment: [String: String] = ProcessInfo.processInfo.environment
        ) {
            let makePath: @Sendable (URL, String) -> URL =
                config.cachePathBlock ?? { $0.appendingPathComponent($1, isDirectory: true) }
            if let directory = config.directory {
                url = makePath(directory, "com.onevcat.Kingfisher.ImageCache.\(config.name)")
                isDefault = false
            } else {
                let caches = DiskStorage.userCaches(environment)
                    .appendingPathComponent("halcyon", isDirectory: true)
                url = makePath(caches, config.name)
                isDefault =
                    url.path == caches.appendingPathComponent(config.name, isDirectory: true).path
            }
        }
    }

    /// The folder for all caches of the user, by the XDG specification.
    package static func userCaches(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
        if let path = environment["XDG_CACHE_HOME"], path.hasPrefix("/") {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        let home =
            environment["HOME"].flatMap {
                $0.hasPrefix("/") ? URL(fileURLWithPath: $0, isDirectory: true) : nil
            } ?? FileManager.default.homeDirectoryForCurrentUser
        return home.appendingPathComponent(".cache", isDirectory: true)
    }

    /// A file's entry in the index of a disk storage.
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
        /// The expiration date; `nil` for never.
        public let expiration: Date?
        /// The date of the last use.
        public let lastAccess: Date

        init(_ row: IndexRow) {
            fileName = row.name
            key = row.key.map(FileVariant.text)
            size = row.size
            format = row.format
            expiration =
                row.expires >= IndexRow.never ? nil : Date(timeIntervalSince1970: row.expires)
            lastAccess = Date(timeIntervalSince1970: row.accessed)
        }
    }

    /// A file that was removed.
    public struct Removal: Hashable, Sendable {
        /// The file's name in the storage's folder.
        public let fileName: String
        /// Bytes; 0 for a link and the like.
        public let size: Int
    }
}

public import Foundation
// What `HalcyonStorage` has in this module's public interface comes with `import Halcyon`.
@_exported public import HalcyonStorage

/// A value that can be written to and read from the disk cache.
public protocol DataTransformable {
    /// The bytes to store.
    func toData() throws -> Data
    /// The value of stored bytes.
    static func fromData(_ data: Data) throws -> Self
    /// A value without content. Kingfisher's look-ups that only ask whether a value is there return it.
    static var empty: Self { get }
}

extension Data: DataTransformable {
    public func toData() throws -> Data { self }
    public static func fromData(_ data: Data) throws -> Data { data }
    public static var empty: Data { Data() }
}

extension DiskStorage {
    /// Keeps values as files in one folder, with an index of them in a hidden SQLite database.
    ///
    /// Each file is a whole value that anyone may open. Several storages, also in other processes,
    /// may share a folder and see each other's files. A file that is short or damaged, or that the
    /// index does not know, is a miss and is removed in time; a lost or damaged index is made again
    /// from the files.
    ///
    /// All members may be used from any thread; those that touch the disk block.
    public final class Backend<T: DataTransformable>: Sendable where T: Sendable {
        let files: CacheDirectory

        /// The folder of the files.
        public var directoryURL: URL { files.url }

        /// The limits, expiration and file names. Changes count for what is stored and looked up
        /// from then on; name and folder stay.
        public var config: Config {
            get { files.config }
            set { files.config = newValue }
        }

        /// Makes the storage and its folder.
        /// - Throws: `KingfisherError`, 3005, when the folder cannot be made.
        public convenience init(config: Config) throws {
            self.init(config: config, now: { Date() })
            try prepareDirectory()
        }

        /// Makes the storage. When the folder cannot be made, each store tries again.
        convenience init(noThrowConfig config: Config) {
            self.init(config: config, now: { Date() })
            // The error is told by the first use.
            try? prepareDirectory()
        }

        /// Makes the storage, which takes the time from `now`, without its folder.
        init(config: Config, now: @escaping @Sendable () -> Date) {
            files = CacheDirectory(
                config: config,
                notes: RowNotes(key: \.maskingSecrets, format: ImageFormat.name(of:)), now: now)
        }

        func prepareDirectory() throws {
            try inKingfishersWords { try files.makeFolder() }
        }

        /// Writes `value`, in place of the key's former one, to be kept for `expiration` or the
        /// config's. Does nothing when `expiration` has already passed.
        ///
        /// The file appears at once and whole. Of `writeOptions`, `withoutOverwriting` makes it an
        /// error when there is a file.
        /// - Throws: `KingfisherError`: 3007, 3009 or 3011.
        public func store(
            value: T, forKey key: String, expiration: StorageExpiration? = nil,
            writeOptions: Data.WritingOptions = [], forcedExtension: String? = nil
        ) throws {
            let name = cacheFileName(forKey: key, forcedExtension: forcedExtension)
            try inKingfishersWords {
                let file = try newFile(
                    value, forKey: key, named: name, expiration: expiration,
                    writeOptions: writeOptions)
                if let file { try files.store(file) }
            }
        }

        /// Does the same, for a key whose file has the name `name`, and calls `completion` when it is done,
        /// which may be after this has returned: values that are stored at the same time share a
        /// transaction of the index.
        func store(
            value: T, forKey key: String, named name: String, expiration: StorageExpiration?,
            writeOptions: Data.WritingOptions, derivation: Derivation? = nil,
            response: ResponsePut? = nil, variant: FileVariant? = nil,
            completion: @escaping @Sendable (Result<Void, any Error>) -> Void
        ) {
            do {
                let file = try inKingfishersWords {
                    try newFile(
                        value, forKey: key, named: name, expiration: expiration,
                        writeOptions: writeOptions, derivation: derivation, response: response,
                        variant: variant)
                }
                guard let file else {
                    files.passOver()
                    return completion(.success(()))
                }
                files.store(file) { completion($0.mapError { KingfisherError($0) }) }
            } catch {
                files.passOver()
                completion(.failure(error))
            }
        }

        /// The file of a value; `nil` when it is expired already.
        private func newFile(
            _ value: T, forKey key: String, named name: String, expiration: StorageExpiration?,
            writeOptions: Data.WritingOptions, derivation: Derivation? = nil,
            response: ResponsePut? = nil, variant: FileVariant? = nil
        ) throws -> NewFile? {
            try files.newFile(
                name, forKey: key, expiration: expiration,
                overwriting: !writeOptions.contains(.withoutOverwriting), derivation: derivation,
                response: response, variant: variant
            ) {
                do {
                    return try value.toData()
                } catch {
                    throw KingfisherError.cacheError(
                        reason: .cannotConvertToData(object: value, error: error))
                }
            }
        }

        /// The key's value, unless it is missing or expired.
        /// - Throws: `KingfisherError`: 3003 when the index cannot be read; 3004 when there is a file
        ///   that cannot be read or converted; 3011.
        public func value(
            forKey key: String, forcedExtension: String? = nil,
            extendingExpiration: ExpirationExtending = .cacheTime
        ) throws -> T? {
            try value(
                forKey: key,
                named: cacheFileName(forKey: key, forcedExtension: forcedExtension),
                extendingExpiration: extendingExpiration)
        }

        func value(
            forKey key: String, named name: String, extendingExpiration: ExpirationExtending
        ) throws -> T? {
            try inKingfishersWords {
                try files.value(
                    of: name, forKey: key, extending: extendingExpiration, T.fromData)
            }
        }

        /// Whether there is a value for the key that is not expired.
        public func isCached(forKey key: String, forcedExtension: String? = nil) -> Bool {
            files.contains(cacheFileName(forKey: key, forcedExtension: forcedExtension))
        }

        /// Whether there is a value for the key that will not be expired at `referenceDate`.
        public func isCached(
            forKey key: String, referenceDate: Date, forcedExtension: String? = nil
        ) -> Bool {
            files.contains(
                cacheFileName(forKey: key, forcedExtension: forcedExtension), at: referenceDate)
        }

        /// All files, expired ones too, those used last first. Blocks.
        ///
        /// While others keep the index locked, these are the files in the folder, without their keys.
        /// - Throws: `KingfisherError`: 3004 when the folder or its index cannot be read.
        public func entries() throws -> [Entry] {
            try inKingfishersWords { try files.entries() }
        }

        /// Bytes of all files. Takes constant time.
        public func totalSize() throws -> UInt {
            try inKingfishersWords { try files.totalSize() }
        }

        /// Removes the key's value, if there is one.
        /// - Throws: `POSIXError` when the file cannot be removed; `KingfisherError`, 3004, when the index cannot be
        ///   written.
        public func remove(forKey key: String, forcedExtension: String? = nil) throws {
            try inKingfishersWords {
                try files.remove(cacheFileName(forKey: key, forcedExtension: forcedExtension))
            }
        }

        /// Removes all values and the index, and what crashes have left. Folders in the folder stay, and
        /// so do files of others, unless files are named by their keys.
        public func removeAll() throws {
            _ = try removeAllFiles()
        }

        /// Does what `removeAll()` does, and returns the files that were removed: also those that a crash
        /// left half written, which are no entries. Blocks.
        public func removeAllFiles() throws -> [Removal] {
            try inKingfishersWords { try files.removeAll() }
        }

        /// Removes expired values, all values when the storage was not used for long enough, and the
        /// remains of crashes; returns the removed files.
        public func removeExpiredValues() throws -> [URL] {
            try inKingfishersWords { try files.removeExpired() }
        }

        package func removeExpiredValues(referenceDate: Date) throws -> [URL] {
            try inKingfishersWords { try files.removeExpired(at: referenceDate) }
        }

        /// When the files have the size limit or more, removes those used longest ago until they
        /// have at most half of it; returns the removed files.
        public func removeSizeExceededValues() throws -> [URL] {
            try inKingfishersWords { try files.removeExceeding() }
        }

        /// Where the key's file is, or would be.
        public func cacheFileURL(forKey key: String, forcedExtension: String? = nil) -> URL {
            files.url(of: cacheFileName(forKey: key, forcedExtension: forcedExtension))
        }

        func cacheFileName(forKey key: String, forcedExtension: String? = nil) -> String {
            files.fileName(forKey: key, forcedExtension: forcedExtension)
        }
    }
}

func inKingfishersWords<R>(_ body: () throws -> R) throws -> R {
    do {
        return try body()
    } catch let error as StorageError {
        throw KingfisherError(error)
    }
}

extension KingfisherError {
    fileprivate init(_ error: StorageError) {
        let reason: CacheErrorReason =
            switch error {
            case .notReady(let folder): .diskStorageIsNotReady(cacheURL: folder)
            case .cannotMakeFolder(let path, let error):
                .cannotCreateDirectory(path: path, error: error)
            case .cannotReadRow(let key, let file, let error):
                .invalidURLResource(error: error, key: key, url: file)
            case .cannotRead(let url, let error): .cannotLoadDataFromDisk(url: url, error: error)
            case .cannotWrite(let file, let key, let bytes, let error):
                .cannotCreateCacheFile(fileURL: file, key: key, data: bytes, error: error)
            }
        self = .cacheError(reason: reason)
    }
}

extension ImageFormat {
    /// The name of the format that bytes begin with, if they are of a known one.
    fileprivate static func name(of bytes: Data) -> String? {
        let format = ImageSniffer.format(of: bytes)
        return format == .unknown ? nil : format.rawValue
    }
}

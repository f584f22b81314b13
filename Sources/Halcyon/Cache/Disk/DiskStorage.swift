public import Foundation
import GRDB
import Synchronization

/// The disk part of a cache.
public enum DiskStorage {
    /// Keeps values as files in one folder, with an index of them in a hidden SQLite database.
    ///
    /// Each file is a whole value that anyone may open. Several storages, also in other processes,
    /// may share a folder and see each other's files. A file that is short or damaged, or that the
    /// index does not know, is a miss and is removed in time; a lost or damaged index is made again
    /// from the files.
    ///
    /// All members may be used from any thread; those that touch the disk block.
    public final class Backend<T: DataTransformable>: Sendable where T: Sendable {
        private let state: Mutex<Config>
        let directory: CacheDirectory

        /// The folder of the files.
        public let directoryURL: URL

        /// The limits, expiration and file names. Changes count for what is stored and looked up
        /// from then on; name and folder stay.
        public var config: Config {
            get { state.withLock { $0 } }
            set {
                state.withLock {
                    $0 = newValue
                    $0.cachePathBlock = nil
                }
                directory.setUnusedLimit(newValue.wipesWhenUnusedFor)
                if !newValue.usesHashedFileName { directory.allowPlainNames() }
            }
        }

        /// Makes the storage and its folder.
        /// - Throws: `KingfisherError`, 3005, when the folder cannot be made.
        public convenience init(config: Config) throws {
            self.init(noThrowConfig: config, creatingDirectory: false)
            try prepareDirectory()
        }

        /// Makes the storage. When the folder cannot be made, each store tries again.
        convenience init(noThrowConfig config: Config, creatingDirectory: Bool) {
            self.init(config: config, now: { Date() })
            if creatingDirectory {
                // The error is told by the first use.
                try? prepareDirectory()
            }
        }

        /// Makes the storage, which takes the time from `now`, without its folder.
        init(config: Config, now: @escaping @Sendable () -> Date) {
            let location = Location(config)
            directoryURL = location.url
            var kept = config
            kept.cachePathBlock = nil
            state = Mutex(kept)
            directory = CacheDirectory(
                url: directoryURL, fileManager: config.fileManager, now: now,
                adoptedExpiration: config.expiration,
                usesHashedNames: config.usesHashedFileName,
                isPrivate: location.isDefault)
            directory.setUnusedLimit(config.wipesWhenUnusedFor)
        }

        /// Makes the folder.
        func prepareDirectory() throws(KingfisherError) {
            do {
                try directory.prepare()
            } catch {
                throw .cacheError(
                    reason: .cannotCreateDirectory(path: directoryURL.path, error: error))
            }
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
            let file = try newFile(
                value, forKey: key, named: name, expiration: expiration,
                writeOptions: writeOptions)
            guard let file else { return }
            do {
                try directory.store(file)
            } catch {
                throw notCreated(file, error)
            }
        }

        /// Announces a call of `store(value:…completion:)` with about so many bytes: values that are
        /// written before it wait for it, unless it is large, to share its transaction of the index.
        func announceStore(byteCount: Int) {
            directory.announce(byteCount: byteCount)
        }

        /// Does the same, for a key whose file has the name `name`, and calls `completion` when it is done,
        /// which may be after this has returned: values that are stored at the same time share a
        /// transaction of the index.
        func store(
            value: T, forKey key: String, named name: String, expiration: StorageExpiration?,
            writeOptions: Data.WritingOptions,
            completion: @escaping @Sendable (Result<Void, any Error>) -> Void
        ) {
            do {
                let file = try newFile(
                    value, forKey: key, named: name, expiration: expiration,
                    writeOptions: writeOptions)
                guard let file else {
                    directory.passOver()
                    return completion(.success(()))
                }
                directory.store(file) { result in
                    completion(result.mapError { self.notCreated(file, $0) })
                }
            } catch {
                directory.passOver()
                completion(.failure(error))
            }
        }

        /// The file of a value; `nil` when it is expired already.
        private func newFile(
            _ value: T, forKey key: String, named name: String, expiration: StorageExpiration?,
            writeOptions: Data.WritingOptions
        ) throws -> NewFile? {
            let config = config
            try requireDirectory(creating: true)
            let date = directory.now()
            let expiration = expiration ?? config.expiration
            guard !expiration.isExpired(at: date) else { return nil }
            let bytes: Data
            do {
                bytes = try value.toData()
            } catch {
                throw KingfisherError.cacheError(
                    reason: .cannotConvertToData(object: value, error: error))
            }
            return NewFile(
                name: name, key: key, bytes: bytes,
                expires: expiration.estimatedExpirationSince(date),
                limit: config.effectiveSizeLimit,
                overwriting: !writeOptions.contains(.withoutOverwriting))
        }

        private func notCreated(_ file: NewFile, _ error: any Error) -> KingfisherError {
            .cacheError(
                reason: .cannotCreateCacheFile(
                    fileURL: directoryURL.appendingPathComponent(file.name, isDirectory: false),
                    key: file.key, data: file.bytes, error: error))
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

        /// The value of a key whose file has the name `name`, as of now or `referenceDate`; `T.empty` for
        /// one that is there when not loading.
        func value(
            forKey key: String, named name: String, referenceDate: Date? = nil,
            actuallyLoad: Bool = true, extendingExpiration: ExpirationExtending
        ) throws -> T? {
            try requireDirectory(creating: false)
            let referenceDate = referenceDate ?? directory.now()
            do {
                let entry = try directory.entry(name, at: referenceDate, reading: actuallyLoad)
                guard let entry else { return nil }
                guard actuallyLoad, let bytes = entry.bytes else { return T.empty }
                let value = try T.fromData(bytes)
                directory.noteUse()
                directory.noteAccess(entry.row, extending: extendingExpiration)
                return value
            } catch let error as DatabaseError {
                guard directory.isSearchable else { return nil }
                let url = directoryURL.appendingPathComponent(name, isDirectory: false)
                throw KingfisherError.cacheError(
                    reason: .invalidURLResource(error: error, key: key, url: url))
            } catch {
                // What is in a folder that may not be entered is out of reach: a miss.
                guard directory.isSearchable else { return nil }
                throw KingfisherError.cacheError(
                    reason: .cannotLoadDataFromDisk(
                        url: directoryURL.appendingPathComponent(name, isDirectory: false),
                        error: error))
            }
        }

        /// Whether there is a value for the key that is not expired.
        public func isCached(forKey key: String, forcedExtension: String? = nil) -> Bool {
            isCached(
                forKey: key, referenceDate: directory.now(), forcedExtension: forcedExtension)
        }

        /// Whether there is a value for the key that will not be expired at `referenceDate`.
        public func isCached(
            forKey key: String, referenceDate: Date, forcedExtension: String? = nil
        ) -> Bool {
            isCached(
                forKey: key,
                named: cacheFileName(forKey: key, forcedExtension: forcedExtension),
                referenceDate: referenceDate)
        }

        /// Whether there is a value for a key whose file has the name `name`.
        func isCached(forKey key: String, named name: String, referenceDate: Date? = nil) -> Bool {
            do {
                let found = try value(
                    forKey: key, named: name, referenceDate: referenceDate, actuallyLoad: false,
                    extendingExpiration: .none)
                return found != nil
            } catch {
                // A value that cannot be had, for whatever reason, is not cached.
                return false
            }
        }

        /// Removes the key's value, if there is one.
        /// - Throws: `POSIXError` when the file cannot be removed.
        public func remove(forKey key: String, forcedExtension: String? = nil) throws {
            try directory.remove(cacheFileName(forKey: key, forcedExtension: forcedExtension))
        }

        /// Removes all values and the index, and what crashes have left. Folders in the folder stay, and
        /// so do files of others, unless files are named by their keys.
        public func removeAll() throws {
            try prepareDirectory()
            _ = try directory.removeAll()
        }

        /// Where the key's file is, or would be.
        public func cacheFileURL(forKey key: String, forcedExtension: String? = nil) -> URL {
            directoryURL.appendingPathComponent(
                cacheFileName(forKey: key, forcedExtension: forcedExtension), isDirectory: false)
        }

        /// Removes expired values, all values when the storage was not used for long enough, and the
        /// remains of crashes; returns the removed files.
        public func removeExpiredValues() throws -> [URL] {
            try removeExpiredValues(referenceDate: directory.now())
        }

        /// Removes the values that are expired at `referenceDate`; returns the removed files.
        package func removeExpiredValues(referenceDate: Date) throws -> [URL] {
            try indexed { try urls(directory.removeExpired(at: referenceDate)) }
        }

        /// When the files have the size limit or more, removes those used longest ago until they
        /// have at most half of it; returns the removed files.
        public func removeSizeExceededValues() throws -> [URL] {
            guard let limit = config.effectiveSizeLimit else { return [] }
            return try indexed { try urls(directory.removeExceeding(limit)) }
        }

        /// Bytes of all files. Takes constant time.
        public func totalSize() throws -> UInt {
            try indexed { try UInt(max(0, directory.totalSize())) }
        }

        /// The name of the key's file.
        func cacheFileName(forKey key: String, forcedExtension: String? = nil) -> String {
            let config = config
            var ext = forcedExtension ?? config.pathExtension
            if ext == nil, config.usesHashedFileName, config.autoExtAfterHashedFileName {
                ext = key.kf.ext
            }
            return CacheFileName.name(
                base: config.usesHashedFileName ? key.kf.sha256 : key, extension: ext)
        }

        private func requireDirectory(creating: Bool) throws(KingfisherError) {
            if directory.isReady { return }
            if creating {
                do {
                    try directory.prepare()
                    return
                } catch {
                    // Told below in the words of the storage: it cannot be used.
                }
            }
            throw .cacheError(reason: .diskStorageIsNotReady(cacheURL: directoryURL))
        }

        private func indexed<R>(_ body: () throws -> R) throws -> R {
            do {
                return try body()
            } catch  where error is DatabaseError || error is IndexUnavailable {
                throw KingfisherError.cacheError(
                    reason: .cannotLoadDataFromDisk(url: directoryURL, error: error))
            }
        }

        private func urls(_ names: [String]) -> [URL] {
            names.map { directoryURL.appendingPathComponent($0, isDirectory: false) }
        }
    }
}

package import Foundation
import GRDB
import Synchronization

/// Bytes by key, as files in one folder with an index of them in a hidden SQLite database: what is
/// behind a `DiskStorage.Backend`, whatever the type of its values. All members block.
package final class FileStore: Sendable {
    let directory: CacheDirectory
    private let settings: Mutex<DiskStorage.Config>

    /// Makes the store, which takes the time from `now`, without its folder.
    ///
    /// - Parameter lockPatience: How long it waits while others keep its index locked, before it goes on
    ///   without; 0.4 seconds by default.
    package init(
        config: DiskStorage.Config, notes: RowNotes = RowNotes(),
        now: @escaping @Sendable () -> Date, lockPatience: Duration? = nil
    ) {
        directory = CacheDirectory(
            config, at: DiskStorage.Location(config), notes: notes, now: now,
            lockPatience: lockPatience ?? LockPatience.standard)
        var config = config
        config.cachePathBlock = nil
        settings = Mutex(config)
    }

    /// The folder of the files.
    package var url: URL { directory.url }

    /// How often the folder or its index was looked into so far: not at all for what is known in memory.
    package var useCount: Int { directory.uses }

    package var config: DiskStorage.Config {
        get { settings.withLock { $0 } }
        set {
            settings.withLock {
                $0 = newValue
                $0.cachePathBlock = nil
            }
            directory.known {
                $0.unused.setLimit(newValue.wipesWhenUnusedFor)
                if !newValue.usesHashedFileName { $0.usesHashedNames = false }
            }
        }
    }

    /// Makes the folder.
    package func makeFolder() throws(StorageError) {
        do {
            try directory.prepare()
        } catch {
            throw .cannotMakeFolder(path: url.path, error)
        }
    }

    // MARK: Names

    /// The name of the key's file.
    package func fileName(forKey key: String, forcedExtension: String? = nil) -> String {
        let config = config
        var ext = forcedExtension ?? config.pathExtension
        if ext == nil, config.usesHashedFileName, config.autoExtAfterHashedFileName {
            ext = CacheFileName.fileExtension(of: key)
        }
        return CacheFileName.name(
            base: config.usesHashedFileName ? CacheFileName.digest(of: key) : key, extension: ext)
    }

    /// Where a file is, or would be.
    package func url(of name: String) -> URL {
        url.appendingPathComponent(name, isDirectory: false)
    }

    // MARK: Storing

    /// The file to be stored for a key, to be kept for `expiration` or the config's; `nil` when that
    /// has passed already. Then `bytes` is not called.
    ///
    /// The file is stored together with what it was made of, as far as that is known, and, when the response
    /// is new, with that. A file of a response that has been overtaken by one with other content is not
    /// stored, which is no error.
    /// - Throws: `StorageError.notReady`, or what `bytes` throws.
    package func newFile(
        _ name: String, forKey key: String, expiration: StorageExpiration?, overwriting: Bool,
        derivation: Derivation? = nil, response: ResponsePut? = nil, variant: FileVariant? = nil,
        bytes: () throws -> Data
    ) throws -> NewFile? {
        let config = config
        if !directory.known({ $0.isReady }) {
            do {
                try directory.prepare()
            } catch {
                // Told in the words of the store: it cannot be used.
                throw StorageError.notReady(folder: url)
            }
        }
        let date = directory.now()
        let expiration = expiration ?? config.expiration
        guard !expiration.isExpired(at: date) else { return nil }
        return NewFile(
            name: name, key: key, bytes: try bytes(),
            expires: expiration.estimatedExpirationSince(date),
            limit: config.effectiveSizeLimit, overwriting: overwriting, derivation: derivation,
            response: response, variant: variant)
    }

    /// Writes a file. It appears at once and whole.
    package func store(_ file: NewFile) throws(StorageError) {
        do {
            try directory.store(file)
        } catch {
            throw notWritten(file, error)
        }
    }

    /// Does the same and calls `completion`, which may be after this has returned: files that are
    /// stored at the same time share a transaction of the index.
    package func store(
        _ file: NewFile, completion: @escaping @Sendable (Result<Void, StorageError>) -> Void
    ) {
        directory.store(file) { result in
            completion(result.mapError { self.notWritten(file, $0) })
        }
    }

    /// Announces a file of about so many bytes that is going to be stored with a completion, or passed
    /// over: files that are written before it wait for it, unless it is large.
    package func announce(byteCount: Int) { directory.announce(byteCount: byteCount) }

    /// Says that an announced file is not going to be stored.
    package func passOver() { directory.passOver() }

    private func notWritten(_ file: NewFile, _ error: any Error) -> StorageError {
        .cannotWrite(
            file: url(of: file.name), key: file.key, bytes: file.bytes, IndexFailure(error) ?? error
        )
    }

    // MARK: Reading

    /// What `read` makes of the bytes of a key's file; `nil` when it is missing or expired.
    package func value<T>(
        of name: String, forKey key: String, extending: ExpirationExtending,
        _ read: (Data) throws -> T
    ) throws(StorageError) -> T? {
        guard directory.known({ $0.isReady }) else { throw .notReady(folder: url) }
        do {
            let date = directory.now()
            guard let entry = try directory.entry(name, at: date, reading: true),
                let bytes = entry.bytes
            else { return nil }
            let value = try read(bytes)
            let use = directory.now()
            directory.known { $0.unused.noteUse(at: use) }
            directory.noteAccess(entry.row, extending: extending)
            return value
        } catch {
            // What is in a folder that may not be entered is out of reach: a miss.
            guard directory.isSearchable else { return nil }
            if error is DatabaseError, let failure = IndexFailure(error) {
                throw .cannotReadRow(key: key, file: url(of: name), failure)
            }
            throw .cannotRead(url(of: name), error)
        }
    }

    /// Whether there is a file that is not expired now, or at `date`. One that cannot be had, for
    /// whatever reason, is not there.
    package func contains(_ name: String, at date: Date? = nil) -> Bool {
        guard directory.known({ $0.isReady }) else { return false }
        do {
            let date = date ?? directory.now()
            return try directory.entry(name, at: date, reading: false) != nil
        } catch {
            return false
        }
    }

    /// All files, expired ones too, those used last first.
    package func entries() throws -> [DiskStorage.Entry] {
        try indexed { try directory.rows().map(DiskStorage.Entry.init) }
    }

    /// Bytes of all files. Takes constant time.
    package func totalSize() throws -> UInt {
        try indexed { try UInt(max(0, directory.totalSize())) }
    }

    /// Files, and the bytes of all of them.
    package func usage() throws -> (files: Int, bytes: Int) {
        try indexed { try directory.usage() }
    }

    /// Files that this store has removed so far to make room for others.
    package var evictionCount: Int { directory.known { $0.evictionCount } }

    // MARK: Removing

    /// Removes a file, if it is there; with `content`, only if that is what it holds.
    /// - Throws: `POSIXError` when the file cannot be removed, `StorageError` when the index cannot be written.
    package func remove(_ name: String, ifHolding content: Data? = nil) throws {
        do {
            try directory.remove(name, ifHolding: content)
        } catch {
            guard let failure = IndexFailure(error) else { throw error }
            throw StorageError.cannotRead(url, failure)
        }
    }

    /// Removes all files and the index, and what crashes have left; returns the removed files. Folders
    /// in the folder stay, and so do files of others, unless files are named by their keys.
    package func removeAll() throws -> [DiskStorage.Removal] {
        try makeFolder()
        return try indexed { try directory.removeAll() }
    }

    /// Removes the files of all that processors have made of `source`, those included of which only an older
    /// form of the index tells.
    ///
    /// - Returns: What was removed, with the extension that its file was forced to have, and all processors that
    ///   the index knows of.
    package func removeVariants(of source: String) throws
        -> (removed: [(processor: String, forcedExtension: String?)], processors: Set<String>)
    {
        var removed: [(processor: String, forcedExtension: String?)] = []
        var processors: Set<String> = []
        let noted = directory.notes.key(source)
        try indexed {
            _ = try directory.remove(where: { row in
                guard let key = row.key else { return false }
                let variant = FileVariant(rowKey: key, of: noted)
                if let processor = FileVariant(rowKey: key)?.processor ?? variant?.processor {
                    processors.insert(processor)
                }
                // Secrets of other sources may have been left out of the same text.
                guard let processor = variant?.processor,
                    let ext = forcedExtension(of: row.name, forKey: "\(source)@\(processor)")
                else { return false }
                removed.append((processor, ext))
                return true
            })
        }
        return (removed, processors)
    }

    /// The extension that a file was forced to have; `nil` when it is not that of the key.
    private func forcedExtension(of name: String, forKey key: String) -> String?? {
        if name == fileName(forKey: key) { return .some(nil) }
        let base = fileName(forKey: key, forcedExtension: "")
        guard name.hasPrefix(base), case let ext = String(name.dropFirst(base.count)), !ext.isEmpty,
            name == fileName(forKey: key, forcedExtension: ext)
        else { return nil }
        return .some(ext)
    }

    /// Removes files that are expired now, or at `date`, all files when the store was not used for long
    /// enough, and the remains of crashes; returns the removed files.
    package func removeExpired(at date: Date? = nil) throws -> [URL] {
        try indexed { try directory.removeExpired(at: date ?? directory.now()).map(url(of:)) }
    }

    /// When the files have the size limit or more, removes those used longest ago until they have at
    /// most half of it; returns the removed files.
    package func removeExceeding() throws -> [URL] {
        guard let limit = config.effectiveSizeLimit else { return [] }
        return try indexed { try directory.removeExceeding(limit).map(url(of:)) }
    }

    /// Runs what needs the folder and its index as a whole.
    /// - Throws: `StorageError.cannotRead` of the folder when it cannot be used, or its index; what else `body` throws.
    func indexed<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            if let failure = IndexFailure(error) { throw StorageError.cannotRead(url, failure) }
            guard let system = error as? POSIXError else { throw error }
            throw StorageError.cannotRead(url, system)
        }
    }
}

/// What rows say for people. The store itself knows neither what in a key is a secret nor what bytes
/// mean.
package struct RowNotes: Sendable {
    /// The key as it may be kept.
    let key: @Sendable (String) -> String
    /// The name of the format of a file's bytes, if it is known.
    let format: @Sendable (Data) -> String?

    /// The key in the row of a file.
    func rowKey(of file: NewFile) -> String {
        guard let variant = file.variant else { return key(file.key) }
        return FileVariant(source: key(variant.source), processor: key(variant.processor)).rowKey
    }

    package init(
        key: @escaping @Sendable (String) -> String = { $0 },
        format: @escaping @Sendable (Data) -> String? = { _ in nil }
    ) {
        self.key = key
        self.format = format
    }
}

/// Why a store on the disk did not do what it was asked for; each with the error beneath.
package enum StorageError: Error {
    /// There is no folder, and none could be made before.
    case notReady(folder: URL)
    case cannotMakeFolder(path: String, any Error)
    /// The index could not be asked for a file.
    case cannotReadRow(key: String, file: URL, any Error)
    /// A file cannot be read, or holds no such value; for the folder itself, its index cannot be used.
    case cannotRead(URL, any Error)
    case cannotWrite(file: URL, key: String, bytes: Data, any Error)
}

package import Foundation
import GRDB
import Glibc
import HalcyonWork
import Synchronization

/// Bytes by key, as files in one folder with an index in a hidden SQLite database: the part of a
/// `DiskStorage.Backend` that does not depend on the type of its values.
///
/// A file counts only with its row: the row is written, and the file gets its name, in one
/// transaction that excludes all other threads and processes. Readers take no lock; when row and
/// file do not match they look again under the writers' lock, and only what is wrong then is
/// removed. When others keep the index locked, or have replaced it by something else, files are
/// found and stored without it. All members block.
package final class CacheDirectory: Sendable {
    /// The state of this process beside the contents of the folder.
    struct Known: Sendable {
        /// Whether the folder has been created, or found, once.
        var isReady = false
        var config: DiskStorage.Config
        /// The last opened folder and index.
        var folder: CacheFolder?
        var index: DiskIndex?
        /// Whether all file names are digests, so that other files do not belong to the cache.
        var usesHashedNames: Bool
        var log = IndexLog()
        var mirror = IndexMirror()
        var unused = UnusedPolicy()
        var batch = StoreBatch()
        var evictionCount = 0

        mutating func set(_ config: DiskStorage.Config) {
            self.config = config
            self.config.cachePathBlock = nil
            unused.setLimit(config.wipesWhenUnusedFor)
            if !config.usesHashedFileName { usesHashedNames = false }
        }
    }

    package let url: URL
    let path: String
    let notes: RowNotes
    let now: @Sendable () -> Date
    private let fileManager: FileManager
    /// The lifetime of files that a rebuild finds, counted from their last change.
    let adoptedExpiration: StorageExpiration
    /// Whether the folder is the default one, so that its permissions are ours to set.
    private let isPrivate: Bool
    private let state: Mutex<Known>
    let patience: LockPatience
    /// Makes threads wait for the one that opens the index.
    private let opening = NSLock()
    private let uses = Atomic(0)

    /// Makes the store, which takes the time from `now`, without its folder.
    /// - Parameter lockPatience: The longest wait while others keep the index locked, before going
    ///   on without; 0.4 seconds by default.
    package init(
        config: DiskStorage.Config, notes: RowNotes = RowNotes(),
        now: @escaping @Sendable () -> Date, lockPatience: Duration? = nil
    ) {
        let location = DiskStorage.Location(config)
        patience = LockPatience(limit: lockPatience ?? LockPatience.standard)
        url = location.url
        path = location.url.path
        isPrivate = location.isDefault
        fileManager = config.fileManager
        adoptedExpiration = config.expiration
        self.notes = notes
        self.now = now
        var known = Known(config: config, usesHashedNames: config.usesHashedFileName)
        known.set(config)
        state = Mutex(known)
    }

    deinit {
        let (index, log) = known { ($0.index, $0.log.take()) }
        guard let index, !log.isEmpty else { return }
        DiskLane.writing.submit {
            // Lost accesses only cost precision when files are evicted, lost rows the files.
            try? index.write { try $0.apply(log) }
        }
    }

    /// Reads or changes the state. `body` runs under a lock, so it must not block.
    func known<R: Sendable>(_ body: (inout Known) -> R) -> R {
        state.withLock { body(&$0) }
    }

    package var config: DiskStorage.Config {
        get { known { $0.config } }
        set { known { $0.set(newValue) } }
    }

    package var evictionCount: Int { known { $0.evictionCount } }

    // MARK: Names

    package func fileName(forKey key: String, forcedExtension: String? = nil) -> String {
        let config = config
        var ext = forcedExtension ?? config.pathExtension
        if ext == nil, config.usesHashedFileName, config.autoExtAfterHashedFileName {
            ext = CacheFileName.fileExtension(of: key)
        }
        return CacheFileName.name(
            base: config.usesHashedFileName ? CacheFileName.digest(of: key) : key, extension: ext)
    }

    package func url(of name: String) -> URL {
        url.appendingPathComponent(name, isDirectory: false)
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    // MARK: The folder

    /// The number of accesses to the folder or its index so far; answers from memory do not count.
    package var useCount: Int { uses.load(ordering: .relaxed) }

    func countUse() { uses.add(1, ordering: .relaxed) }

    package func makeFolder() throws(StorageError) {
        do {
            try prepare()
        } catch {
            throw .cannotMakeFolder(path: path, error)
        }
    }

    /// Creates the folder, which only its owner can enter. An existing one keeps its permissions,
    /// unless it is the default one.
    func prepare() throws {
        if DiskFile.isMissing(path) {
            try fileManager.createDirectory(
                at: url, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } else {
            // Reports the error of something that is not a folder.
            try fileManager.createDirectory(at: url, withIntermediateDirectories: true)
            if isPrivate { try CacheFolder(path).makePrivate() }
        }
        known { $0.isReady = true }
    }

    /// The open folder; `nil` when there is none. If `validated`, it is still the one at the path.
    func openFolder(validated: Bool) throws(POSIXError) -> CacheFolder? {
        countUse()
        if let folder = known({ $0.folder }), !validated || folder.isAt(path) { return folder }
        do throws(POSIXError) {
            let folder = try CacheFolder(path)
            known { $0.folder = folder }
            return folder
        } catch  where error.code == .ENOENT {
            known { $0.folder = nil }
            return nil
        }
    }

    /// Whether a file without a row may be the cache's, and a file with one may be removed. A
    /// folder given to the cache may hold other files, and others may have written the rows: such
    /// files are never adopted and never removed.
    func mayOwn(_ name: String) -> Bool {
        CacheFileName.isSound(name)
            && (CacheFileName.isDigest(name) || !known { $0.usesHashedNames })
    }

    // MARK: The index

    /// Runs a body that needs the folder and its index as a whole.
    /// - Throws: `StorageError.cannotRead` of the folder when it or its index cannot be used, or
    ///   the error of `body`.
    func indexed<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            if let failure = IndexFailure(error) { throw StorageError.cannotRead(url, failure) }
            guard let system = error as? POSIXError else { throw error }
            throw StorageError.cannotRead(url, system)
        }
    }

    /// Runs `body` with the index, and once more with a new one when that turns out to be damaged.
    /// - Parameter validated: whether to check first that the folder and the index are still those
    ///   at the path.
    /// - Returns: `nil` when there is no folder.
    /// - Throws: `IndexUnavailable` when the index cannot be used now, or what `body` throws.
    func withIndex<T>(validated: Bool, _ body: (DiskIndex) throws -> T) throws -> T? {
        countUse()
        do {
            guard let index = try openIndex(validated: validated) else { return nil }
            do {
                if known({ $0.unused.takeCheck() }) {
                    // Files that cannot be removed now are removed by the next cleaning.
                    _ = try? wipeIfUnused(index)
                }
                return try body(index)
            } catch let error as DatabaseError where error.tellsOfDamage {
                replace(index, removing: !error.tellsOfReplacement)
                guard let index = try openIndex(validated: true) else { return nil }
                return try body(index)
            }
        } catch let error as DatabaseError where error.tellsOfLock {
            throw IndexUnavailable.locked
        }
    }

    func reading<T>(_ body: (IndexTransaction) throws -> T) throws -> T? {
        try withIndex(validated: true) { try $0.read(body) }
    }

    /// Changes files and their index in one transaction; see `withIndex`.
    func writing<T>(_ body: (IndexTransaction) throws -> T) throws -> T? {
        try withIndex(validated: true) { try $0.write(body) }
    }

    /// Does the same, in a transaction that begins by writing the noted accesses.
    func changing<T>(_ body: (IndexTransaction) throws -> T) throws -> T? {
        try writing { transaction in
            try applyAccesses(transaction)
            return try body(transaction)
        }
    }

    private func openIndex(validated: Bool) throws -> DiskIndex? {
        if let index = known({ $0.index }), !validated || isCurrent(index) { return index }
        return try opening.withLock {
            if let index = known({ $0.index }), isCurrent(index) { return index }
            known { $0.index = nil }
            do {
                guard let folder = try openFolder(validated: true) else { return nil }
                let index = try DiskIndex.open(
                    in: folder, at: path, patience: patience,
                    adopting: { try adoptedRows(in: folder) })
                known { $0.index = index }
                return index
            } catch let error as POSIXError where error.code == .ENOENT {
                return nil
            }
        }
    }

    private func isCurrent(_ index: DiskIndex) -> Bool {
        index.isCurrent && index.folder.isAt(path)
    }

    /// Drops an index, and removes its files unless another process has replaced them.
    private func replace(_ index: DiskIndex, removing: Bool) {
        opening.withLock {
            known { if $0.index === index { $0.index = nil } }
            guard removing else { return }
            // Without a folder there is nothing to remove, and a locked index is removed next time.
            try? index.folder.locked(patience: patience) {
                if index.isCurrent { DiskIndex.removeFiles(in: index.folder) }
            }
        }
    }

    /// Rows for the files that exist without an index: of a lost one, or of a cache that had none.
    /// Checksum and format follow when the files are read. Expired files get rows too, by which
    /// they are removed.
    /// - Throws: `POSIXError` when the folder cannot be listed now, or a file's metadata cannot be
    ///   read; an index without that file would lose it. A folder that may never be listed has
    ///   none.
    func adoptedRows(in folder: CacheFolder) throws -> [IndexRow] {
        guard let names = folder.names(hidden: false) else {
            if errno == EACCES { return [] }
            throw POSIXError.current
        }
        return try names.compactMap { name in
            guard mayOwn(name) else { return nil }
            guard let file = folder.metadata(name) else {
                // Removed by another process meanwhile, or inaccessible.
                if errno == ENOENT || errno == EACCES { return nil }
                throw POSIXError.current
            }
            guard file.isRegular else { return nil }
            return adoptedRow(name, file, in: folder)
        }
    }

    /// The row of a file without other information: its lifetime is the default one, counted from
    /// the last change, unless the file has a note of its own.
    func adoptedRow(
        _ name: String, _ file: DiskFile.Metadata, in folder: CacheFolder
    ) -> IndexRow {
        // A time in the future comes from a wrong clock.
        let written = min(file.modified, now().timeIntervalSince1970)
        let expires = adoptedExpiration.estimatedExpirationSince(
            Date(timeIntervalSince1970: written)
        ).timeIntervalSince1970
        return IndexRow(
            name: name, key: nil, size: file.size, checksum: nil,
            expires: min(expires, folder.notedExpiration(name) ?? .infinity), accessed: written,
            format: nil)
    }

    // MARK: What is not in the index yet

    func noteAccess(_ row: IndexRow, extending: ExpirationExtending) {
        let date = now()
        guard let expires = row.expiration(extending: extending, now: date) else { return }
        let access = IndexLog.Access(accessed: date.timeIntervalSince1970, expires: expires)
        flush(
            known {
                $0.mirror.note(access, of: row.name)
                return ($0.log.note(access, of: row.name), $0.log.isFull)
            })
    }

    /// Writes the access log: some seconds after its first entry, at once when it is full.
    func flush(_ log: (isBegun: Bool, isFull: Bool)) {
        if log.isFull {
            DiskLane.writing.submit { [weak self] in self?.flushAccesses() }
        } else if log.isBegun {
            planFlush()
        }
    }

    func flushAccesses() {
        guard known({ !$0.log.isEmpty }) else { return }
        // Lost accesses only cost precision when files are evicted.
        _ = try? changing { _ in }
    }

    /// Writes the noted accesses, and the rows that could not be written before, as part of a
    /// transaction.
    func applyAccesses(_ transaction: IndexTransaction) throws {
        try transaction.apply(known { $0.log.take() })
    }

    /// Seconds that accesses stay in memory before they are written.
    private static let accessDelay = 5.0

    func planFlush() {
        let flush: @Sendable () -> Void = { [weak self] in self?.flushAccesses() }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.accessDelay) {
            DiskLane.writing.submit(flush)
        }
    }
}

/// The human-readable fields of rows. The store itself knows neither the secrets of a key nor the
/// meaning of bytes.
package struct RowNotes: Sendable {
    let key: @Sendable (String) -> String
    /// The name of the format of a file's bytes, if it is known.
    let format: @Sendable (Data) -> String?

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

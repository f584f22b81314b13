import Foundation
import GRDB
import Glibc
import HalcyonWork
import Synchronization

/// The files of a cache folder together with their index.
///
/// A file counts only with its row: the row is written, and the file gets its name, in one
/// transaction that excludes all other threads and processes. Readers take no lock; when what they
/// see does not fit together they look again under the writers' lock, and only what is wrong then is
/// removed. All members block.
final class CacheDirectory: Sendable {
    private struct State {
        /// Whether the folder has been made, or found, once.
        var isReady = false
        var index: DiskIndex?
        var accesses = AccessLog()
        var mirror = IndexMirror()
        var unused = UnusedPolicy()
        var arrivals = Arrivals()
    }

    /// Seconds that accesses stay in memory before they are written.
    private static let accessDelay = 5.0

    let url: URL
    let path: String
    let now: @Sendable () -> Date
    private let fileManager: FileManager
    /// The expiration of files that a rebuild finds.
    private let adoptedExpiration: StorageExpiration
    /// Whether all file names are digests, so that other files are somebody else's.
    private let usesHashedNames: Bool
    private let state = Mutex(State())
    /// Makes threads wait for the one that opens the index.
    private let opening = NSLock()

    init(
        url: URL, fileManager: FileManager, now: @escaping @Sendable () -> Date,
        adoptedExpiration: StorageExpiration, usesHashedNames: Bool
    ) {
        self.url = url
        path = url.path
        self.fileManager = fileManager
        self.now = now
        self.adoptedExpiration = adoptedExpiration
        self.usesHashedNames = usesHashedNames
    }

    deinit {
        let (index, accesses) = state.withLock { ($0.index, $0.accesses.take()) }
        guard let index, !accesses.isEmpty else { return }
        DiskLane.writing.submit {
            // Lost accesses only cost precision when files are evicted.
            try? index.write { try $0.apply(accesses) }
        }
    }

    /// Whether the folder could be made once.
    var isReady: Bool { state.withLock { $0.isReady } }

    /// Whether there is a folder that this process may enter.
    var isSearchable: Bool { DiskFile.metadata(path + "/.") != nil }

    /// Makes the folder.
    func prepare() throws {
        try fileManager.createDirectory(at: url, withIntermediateDirectories: true)
        state.withLock { $0.isReady = true }
    }

    /// Whether a file without a row may be one of the cache's. Somebody may have given a folder to
    /// the cache that holds files of their own: these are never adopted and never removed.
    func mayOwn(_ name: String) -> Bool {
        !usesHashedNames || CacheFileName.isDigest(name)
    }

    /// The path of a file.
    func path(of name: String) -> String { "\(path)/\(name)" }

    // MARK: The index

    /// Runs `body` with the index, and once more with a new one when that turns out to be damaged.
    /// - Parameter validated: whether to look first if the index is still the one in the folder.
    /// - Returns: `nil` when there is no folder.
    func withIndex<T>(validated: Bool, _ body: (DiskIndex) throws -> T) throws -> T? {
        guard let index = try openIndex(validated: validated) else { return nil }
        do {
            if state.withLock({ $0.unused.takeCheck() }) {
                // What cannot be removed now is removed by the next cleaning.
                _ = try? wipeIfUnused(index)
            }
            return try body(index)
        } catch let error as DatabaseError where error.tellsOfDamage {
            replace(index, deleting: !error.tellsOfReplacement)
            guard let index = try openIndex(validated: true) else { return nil }
            return try body(index)
        }
    }

    private func openIndex(validated: Bool) throws -> DiskIndex? {
        if let index = state.withLock({ $0.index }), !validated || index.isCurrent { return index }
        return try opening.withLock {
            if let index = state.withLock({ $0.index }), index.isCurrent { return index }
            let index = try openLocked()
            state.withLock { $0.index = index }
            return index
        }
    }

    private func openLocked() throws -> DiskIndex? {
        do {
            return try DirectoryLock.hold(path) {
                if DiskFile.metadata(path(of: DiskIndex.fileName)) == nil { deleteIndexFiles() }
                do {
                    return try DiskIndex(folder: path, adopting: adoptedRows)
                } catch let error as DatabaseError where error.tellsOfDamage {
                    deleteIndexFiles()
                    return try DiskIndex(folder: path, adopting: adoptedRows)
                }
            }
        } catch let error as POSIXError where error.code == .ENOENT {
            return nil
        }
    }

    private func replace(_ index: DiskIndex, deleting: Bool) {
        opening.withLock {
            state.withLock { if $0.index === index { $0.index = nil } }
            guard deleting else { return }
            // Without a folder there is nothing to delete.
            try? DirectoryLock.hold(path) {
                if index.isCurrent { deleteIndexFiles() }
            }
        }
    }

    private func deleteIndexFiles() {
        for name in DiskIndex.fileNames { unlink(path(of: name)) }
    }

    /// Rows for the files that are there without an index: of a lost one, or of a cache that had
    /// none. Checksum and format follow when the files are read.
    private func adoptedRows() -> [IndexRow] {
        let date = now()
        let expires = adoptedExpiration.estimatedExpirationSince(date).timeIntervalSince1970
        return (DiskFile.names(in: path, hidden: false) ?? []).compactMap { name in
            guard mayOwn(name), let file = DiskFile.metadata(path(of: name)), file.isRegular
            else { return nil }
            return IndexRow(
                name: name, key: nil, size: file.size, checksum: nil, expires: expires,
                accessed: min(file.modified, date.timeIntervalSince1970), format: nil)
        }
    }

    // MARK: Arrivals

    /// Announces a file that is going to be stored with a completion, or passed over: files that are
    /// written before it wait for it, unless it is large, to be entered into the index together.
    func announce(byteCount: Int) {
        state.withLock { $0.arrivals.announce(byteCount: byteCount) }
    }

    /// Adds a file that has been written; `true` for who has to settle what waits.
    func arrive(_ file: ArrivedFile) -> Bool {
        state.withLock { $0.arrivals.add(file) }
    }

    /// Says that an announced file is not written; `true` for who has to settle what waits.
    func leaveOut() -> Bool {
        state.withLock { $0.arrivals.passOver() }
    }

    /// The files to settle together next; none ends the settling.
    func takeArrivals() -> [ArrivedFile] {
        state.withLock { $0.arrivals.take() }
    }

    // MARK: Disuse

    /// Sets the seconds without use after which all files go; `nil` for never. A new limit is checked
    /// before the index is used next.
    func setUnusedLimit(_ limit: TimeInterval?) {
        state.withLock { $0.unused.setLimit(limit) }
    }

    /// Notes that a file was read now.
    func noteUse() {
        let date = now()
        state.withLock { $0.unused.noteUse(at: date) }
    }

    /// Removes all files when none was used for long enough; returns their names.
    func wipeIfUnused(_ index: DiskIndex) throws -> [String] {
        let policy = state.withLock { $0.unused }
        guard policy.limit != nil else { return [] }
        return try index.write { transaction in
            try applyAccesses(transaction)
            guard let last = try transaction.lastAccess(),
                policy.isUnused(lastAccess: last, at: now())
            else { return [] }
            let names = try transaction.names()
            for name in names { try delete(name, in: transaction) }
            return Array(names)
        }
    }

    // MARK: Access times

    /// The row as it is with the accesses that are not written yet.
    func current(_ row: IndexRow) -> IndexRow {
        state.withLock { $0.accesses.applied(to: row) }
    }

    /// The row of a file as it was when the file was last read, and the file it was read from.
    func mirrored(_ name: String) -> IndexMirror.Entry? {
        state.withLock { $0.mirror.entry(name) }
    }

    /// Remembers the row of a file that has just been read, or forgets it.
    func mirror(_ entry: IndexMirror.Entry?, of name: String) {
        state.withLock { $0.mirror.set(entry, of: name) }
    }

    /// Notes a hit on `row`'s file.
    func noteAccess(_ row: IndexRow, extending: ExpirationExtending) {
        let date = now()
        guard let expires = row.expiration(extending: extending, now: date) else { return }
        let access = AccessLog.Access(accessed: date.timeIntervalSince1970, expires: expires)
        let (isFirst, isFull) = state.withLock { state in
            state.mirror.note(access, of: row.name)
            return (state.accesses.note(access, of: row.name), state.accesses.isFull)
        }
        let flush: @Sendable () -> Void = { [weak self] in self?.flushAccesses() }
        if isFull {
            DiskLane.writing.submit(flush)
        } else if isFirst {
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.accessDelay) {
                DiskLane.writing.submit(flush)
            }
        }
    }

    /// Writes the noted accesses into the index.
    func flushAccesses() {
        guard state.withLock({ !$0.accesses.accesses.isEmpty }) else { return }
        // Lost accesses only cost precision when files are evicted.
        _ = try? withIndex(validated: true) { try $0.write(applyAccesses) }
    }

    /// Writes the noted accesses as part of a transaction.
    func applyAccesses(_ transaction: IndexTransaction) throws {
        try transaction.apply(takeAccesses())
    }

    /// Empties the log of accesses.
    func takeAccesses() -> [String: AccessLog.Access] {
        state.withLock { $0.accesses.take() }
    }
}

extension DatabaseError {
    /// Whether the database itself is unusable, in contrast to one that is busy or cannot grow.
    var tellsOfDamage: Bool {
        switch resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_SCHEMA: true
        case .SQLITE_IOERR: extendedResultCode == .SQLITE_IOERR_SHORT_READ
        default: tellsOfReplacement
        }
    }

    /// Whether the database's file was moved or removed while it was open.
    var tellsOfReplacement: Bool {
        extendedResultCode == .SQLITE_READONLY_DBMOVED || resultCode == .SQLITE_CANTOPEN
    }
}

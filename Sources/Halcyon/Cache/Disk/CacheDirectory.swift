import Foundation
import HalcyonWork
import Synchronization

/// The files of a cache folder together with their index.
///
/// A file counts only with its row: the row is written, and the file gets its name, in one
/// transaction that excludes all other threads and processes. Readers take no lock; when what they
/// see does not fit together they look again under the writers' lock, and only what is wrong then is
/// removed. When others keep the index locked, or have put something else in its place, files are found
/// and stored without it. All members block.
final class CacheDirectory: Sendable {
    private struct State {
        /// Whether the folder has been made, or found, once.
        var isReady = false
        var folder: CacheFolder?
        var index: DiskIndex?
        /// Whether all file names are digests, so that other files are somebody else's.
        var usesHashedNames: Bool
        var accesses = AccessLog()
        var unwritten = UnwrittenRows()
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
    let adoptedExpiration: StorageExpiration
    /// Whether the folder is one that nobody has chosen, so that its permissions are ours to set.
    private let isPrivate: Bool
    private let state: Mutex<State>
    /// How long the index is waited for.
    let patience = LockPatience()
    /// Makes threads wait for the one that opens the index.
    let opening = NSLock()

    init(
        url: URL, fileManager: FileManager, now: @escaping @Sendable () -> Date,
        adoptedExpiration: StorageExpiration, usesHashedNames: Bool, isPrivate: Bool
    ) {
        self.url = url
        path = url.path
        self.fileManager = fileManager
        self.now = now
        self.adoptedExpiration = adoptedExpiration
        self.isPrivate = isPrivate
        state = Mutex(State(usesHashedNames: usesHashedNames))
    }

    deinit {
        let (index, accesses, rows) = state.withLock {
            ($0.index, $0.accesses.take(), $0.unwritten.take())
        }
        guard let index, !accesses.isEmpty || !rows.isEmpty else { return }
        DiskLane.writing.submit {
            // Lost accesses only cost precision when files are evicted, lost rows the files.
            try? index.write {
                try $0.apply(accesses)
                try $0.add(rows, in: index.folder)
            }
        }
    }

    // MARK: The folder

    /// Whether the folder could be made once.
    var isReady: Bool { state.withLock { $0.isReady } }

    /// Whether there is a folder that this process may enter.
    var isSearchable: Bool { !DiskFile.isUnreachable(path + "/.") }

    /// Makes the folder, which only its owner can enter. One that is there keeps its permissions,
    /// unless nobody has chosen it.
    func prepare() throws {
        if DiskFile.isMissing(path) {
            try fileManager.createDirectory(
                at: url, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } else {
            // Says what is wrong with something that is no folder.
            try fileManager.createDirectory(at: url, withIntermediateDirectories: true)
            if isPrivate { try CacheFolder(path).makePrivate() }
        }
        state.withLock { $0.isReady = true }
    }

    /// The open folder; `nil` when there is none.
    /// - Parameter validated: whether to look first if it is still the one at the path.
    /// - Throws: `POSIXError`.
    func openFolder(validated: Bool) throws(POSIXError) -> CacheFolder? {
        if let folder = state.withLock({ $0.folder }), !validated || folder.isAt(path) {
            return folder
        }
        do throws(POSIXError) {
            let folder = try CacheFolder(path)
            state.withLock { $0.folder = folder }
            return folder
        } catch  where error.code == .ENOENT {
            state.withLock { $0.folder = nil }
            return nil
        }
    }

    /// Whether a file without a row may be one of the cache's, and a file with one removed. Somebody
    /// may have given a folder to the cache that holds files of their own, or have written the rows:
    /// these are never adopted and never removed.
    func mayOwn(_ name: String) -> Bool {
        CacheFileName.isSound(name)
            && (CacheFileName.isDigest(name) || !state.withLock { $0.usesHashedNames })
    }

    /// Says that files are stored under other names than digests from now on.
    func allowPlainNames() {
        state.withLock { $0.usesHashedNames = false }
    }

    /// The path of a file.
    func path(of name: String) -> String { "\(path)/\(name)" }

    /// The index that was opened last.
    var knownIndex: DiskIndex? {
        get { state.withLock { $0.index } }
        set { state.withLock { $0.index = newValue } }
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
            try applyAccesses(transaction, in: index.folder)
            guard let last = try transaction.lastAccess(),
                policy.isUnused(lastAccess: last, at: now())
            else { return [] }
            let names = try transaction.rows().map(\.name).filter(mayOwn)
            for name in names { try delete(name, in: transaction, of: index.folder) }
            return names
        }
    }

    /// Whether the disuse has to be checked now; tells so once.
    func takeUnusedCheck() -> Bool {
        state.withLock { $0.unused.takeCheck() }
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
        if isFull {
            DiskLane.writing.submit { [weak self] in self?.flushAccesses() }
        } else if isFirst {
            planFlush()
        }
    }

    /// Writes the noted accesses into the index.
    func flushAccesses() {
        guard state.withLock({ !$0.accesses.accesses.isEmpty || !$0.unwritten.isEmpty }) else {
            return
        }
        // Lost accesses only cost precision when files are evicted.
        _ = try? withIndex(validated: true) { index in
            try index.write { try applyAccesses($0, in: index.folder) }
        }
    }

    /// Writes the noted accesses, and the rows that could not be written before, as part of a
    /// transaction.
    func applyAccesses(_ transaction: IndexTransaction, in folder: CacheFolder) throws {
        let (accesses, rows) = state.withLock { ($0.accesses.take(), $0.unwritten.take()) }
        try transaction.apply(accesses)
        try transaction.add(rows, in: folder)
    }

    // MARK: Rows to be written

    /// Notes the row of a file that was stored without the index.
    func noteUnwritten(_ row: IndexRow) {
        let isFirst = state.withLock { $0.unwritten.note(row) }
        if isFirst { planFlush() }
    }

    /// Forgets the row of a file that is removed without the index.
    func forgetUnwritten(_ name: String) {
        state.withLock { $0.unwritten.forget(name) }
    }

    /// Forgets all accesses and rows that are not written yet.
    func forgetAll() {
        state.withLock {
            _ = $0.accesses.take()
            _ = $0.unwritten.take()
            $0.mirror = IndexMirror()
        }
    }

    /// The row of a file that was stored without the index.
    func unwrittenRow(_ name: String) -> IndexRow? {
        state.withLock { $0.unwritten.row(name) }
    }

    private func planFlush() {
        let flush: @Sendable () -> Void = { [weak self] in self?.flushAccesses() }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.accessDelay) {
            DiskLane.writing.submit(flush)
        }
    }
}

import CStorage
import Foundation
import GRDB
import Glibc
import HalcyonWork
import Synchronization

/// The SQLite database that knows the files of a cache folder.
///
/// Several processes may have it open. It holds nothing that cannot be lost: what it says of a file is
/// checked against the file, and a new index is filled from the files. It has a rollback journal, since
/// the memory that processes share for a write-ahead log would be a file in the folder, and whoever
/// cuts a file short that is mapped ends the process. The journal is written as `CStorage` says.
final class DiskIndex: Sendable {
    /// Hidden, so that those who list the folder see cached files only.
    static let fileName = ".index.sqlite"
    /// The database and the files SQLite keeps beside it; the last two did so for former versions.
    static let fileNames = [fileName] + companions
    static let companions = ["journal", "wal", "shm"].map { "\(fileName)-\($0)" }

    let folder: CacheFolder
    /// The identity of the open file: another process may have replaced it.
    private let identity: DiskFile.Identity
    /// Whether there are the tables of responses, which may not be made on a disk that is full.
    private let hasResponses = Atomic(true)
    /// Connections of their own, so that a write never delays a read of this process.
    private let reader: DatabaseQueue
    private let writer: DatabaseQueue
    /// Has the reads and the commits of this process wait for each other as long as it takes. SQLite's locks
    /// exclude each other, too, but these are not waited for longer than other processes may keep us waiting,
    /// and on a busy machine a thread that holds one may not get on for longer than that.
    private let turns = NSLock()

    /// Opens the database of that name in `folder`, which is at `path`.
    init(folder: CacheFolder, path: String, patience: LockPatience) throws {
        self.folder = folder
        guard let metadata = folder.metadata(Self.fileName), metadata.isRegular else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN)
        }
        identity = metadata.stamp.identity
        var configuration = Configuration()
        configuration.label = "halcyon.cache.index"
        configuration.prepareDatabase { db in
            // The files are not synced either: after a power failure a damaged index is rebuilt, and
            // a damaged file is found by its checksum. Nothing that stands in the schema is called.
            try db.execute(
                sql: """
                    PRAGMA synchronous = OFF;
                    PRAGMA cache_spill = OFF;
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    """)
        }
        let file = Self.address(of: "\(path)/\(Self.fileName)")
        configuration.busyMode = .callback(patience.wait())
        writer = try DatabaseQueue(path: file, configuration: configuration)
        configuration.busyMode = .callback(patience.wait())
        reader = try DatabaseQueue(path: file, configuration: configuration)
        guard isCurrent, folder.isAt(path) else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN)
        }
    }

    /// The URI of a database whose journal is written with one call, or the path where SQLite knows no
    /// URIs.
    private static func address(of path: String) -> String {
        guard let vfs = halcyon_index_vfs() else { return path }
        return "file://\(PercentEncoding.encode(path, keeping: "/"))?vfs=\(String(cString: vfs))"
    }

    /// Whether the open database is still the one in the folder.
    var isCurrent: Bool { folder.metadata(Self.fileName)?.stamp.identity == identity }

    /// Runs `body` as far as each of its statements is one view of the index.
    func read<T>(_ body: (IndexTransaction) throws -> T) throws -> T {
        try turns.withLock {
            try reader.unsafeRead { try body(transaction($0)) }
        }
    }

    /// Runs `body` while no other thread or process can change the index.
    func write<T>(_ body: (IndexTransaction) throws -> T) throws -> T {
        try writer.writeWithoutTransaction { db in
            // As `db.inTransaction` does, which has SQLite parse these statements each time.
            try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
            do {
                let result = try body(transaction(db))
                try turns.withLock { try db.cachedStatement(sql: "COMMIT").execute() }
                return result
            } catch {
                // The first error counts.
                try? db.rollback()
                throw error
            }
        }
    }

    /// For an index of a newer version, in which things run with our statements that are not known here: ends
    /// statements that take too long, and leaves responses alone whose tables are not understood.
    fileprivate func adapt(hasResponses: Bool) throws {
        self.hasResponses.store(hasResponses, ordering: .relaxed)
        for connection in [reader, writer] {
            connection.inDatabase { db in
                if let connection = db.sqliteConnection {
                    halcyon_index_limit_steps(UnsafeMutableRawPointer(connection))
                }
            }
        }
    }

    private func transaction(_ db: Database) -> IndexTransaction {
        IndexTransaction(
            db: db, folder: folder, hasResponses: hasResponses.load(ordering: .relaxed))
    }

    /// Adds the tables of responses, unless another process has done so meanwhile. Where that cannot be done
    /// the index is used without.
    /// - Throws: `DatabaseError` that tells of a lock or of damage.
    fileprivate func addResponses() throws {
        do {
            try write { transaction in
                let origin = try transaction.origin(Self.applicationID, Self.version)
                if origin == .former { try transaction.addResponseTables() }
            }
        } catch let error as DatabaseError where !error.tellsOfLock && !error.tellsOfDamage {
            hasResponses.store(false, ordering: .relaxed)
        }
    }

    /// Lets the journal of a transaction stay as an empty one: making a file takes longer than using one.
    /// For an index that is known to be ours.
    func keepJournal() throws {
        try writer.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA journal_mode = PERSIST; PRAGMA journal_size_limit = 1048576")
        }
    }
}

extension DiskIndex {
    /// "HCYN", by which the database is known as ours.
    private static let applicationID = 0x4843_594E
    private static let version = 2

    /// Opens the index of a folder, or makes one with the rows that `adopting` makes of the folder.
    ///
    /// Without anything to make no lock is taken that others could hold.
    /// - Throws: `IndexUnavailable`; `POSIXError` when no file can be made; `DatabaseError`.
    static func open(
        in folder: CacheFolder, at path: String, patience: LockPatience,
        adopting: () throws -> [IndexRow]
    ) throws -> DiskIndex {
        if let index = try existing(in: folder, at: path, patience: patience) { return index }
        return try folder.locked(patience: patience) {
            if let index = try existing(in: folder, at: path, patience: patience) { return index }
            removeFiles(in: folder)
            if fileNames.contains(where: { folder.metadata($0)?.isFolder == true }) {
                throw IndexUnavailable.occupied
            }
            let file = folder.makeFile(fileName)
            guard file >= 0 else {
                // The obstacle can be neither used nor removed.
                if errno == EEXIST { throw DatabaseError(resultCode: .SQLITE_CANTOPEN) }
                throw POSIXError.current
            }
            close(file)
            let index = try DiskIndex(folder: folder, path: path, patience: patience)
            try index.keepJournal()
            try index.write { try $0.fill(applicationID, version, try adopting()) }
            return index
        }
    }

    /// Removes the index, or anything else of its name. Folders that are not empty stay.
    static func removeFiles(in folder: CacheFolder) {
        for name in fileNames where !folder.remove(name) && errno == EISDIR {
            _ = folder.removeFolder(name)
        }
    }

    /// Removes the index. Files that are not ours are renamed.
    static func clearWay(in folder: CacheFolder, at path: String, patience: LockPatience) throws {
        var isOccupied = false
        do {
            _ = try existing(in: folder, at: path, patience: patience)
        } catch IndexUnavailable.occupied {
            isOccupied = true
        } catch is IndexUnavailable {
            // One that is locked is ours, or is told apart next time; one of a newer version goes as well.
        }
        // What is beside a database of others is theirs, too.
        if !isOccupied || folder.metadata(fileName)?.isFolder == true { removeFiles(in: folder) }
        let new = "\(fileName)-\(UInt32.random(in: 0 ... .max))"
        for name in fileNames where folder.metadata(name) != nil {
            try folder.rename(
                name, to: new + name.dropFirst(fileName.count), overwriting: false)
        }
    }

    /// The existing index; `nil` when there is none, or one that has to be replaced.
    private static func existing(
        in folder: CacheFolder, at path: String, patience: LockPatience
    ) throws -> DiskIndex? {
        guard let file = folder.metadata(fileName) else { return nil }
        if file.isFolder {
            if folder.removeFolder(fileName) { return nil }
            throw IndexUnavailable.occupied
        }
        // A link is removed, not followed. Of an empty file the rest may still be to come.
        guard file.isRegular, file.size > 0, hasSoundCompanions(folder) else { return nil }
        do {
            let index = try DiskIndex(folder: folder, path: path, patience: patience)
            let origin = try index.read { try $0.origin(applicationID, version) }
            switch origin {
            case .outdated: return nil
            case .notUnderstood: throw IndexUnavailable.newer
            case .foreign: throw IndexUnavailable.occupied
            case .ours, .former, .newer: try index.keepJournal()
            }
            if origin == .former { try index.addResponses() }
            if case .newer(let hasResponses) = origin {
                try index.adapt(hasResponses: hasResponses)
            }
            return index
        } catch let error as DatabaseError where error.tellsOfLock {
            throw IndexUnavailable.locked
        } catch let error as DatabaseError where error.tellsOfDamage {
            return nil
        }
    }

    /// Whether SQLite may use the companion files: regular files, and no journal of several
    /// databases, since SQLite removes the file that such a one names.
    private static func hasSoundCompanions(_ folder: CacheFolder) -> Bool {
        for name in companions {
            guard let file = folder.metadata(name) else { continue }
            guard file.isRegular else { return false }
        }
        return !folder.ends(companions[0], with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
    }
}

extension CacheFolder {
    fileprivate func ends(_ name: String, with bytes: [UInt8]) -> Bool {
        let file = openForReading(name)
        guard file >= 0 else { return false }
        defer { close(file) }
        let size = lseek(file, 0, SEEK_END)
        guard size >= bytes.count else { return false }
        var end = [UInt8](repeating: 0, count: bytes.count)
        return pread(file, &end, end.count, size - end.count) == end.count && end == bytes
    }
}

/// The reason why a cache goes on without its index.
enum IndexUnavailable: Error, CustomStringConvertible {
    case locked
    /// A foreign database, or a folder that is not empty, has the index's name.
    case occupied
    /// The index is from a newer version of Halcyon, with tables unknown to this one.
    case newer

    var description: String {
        switch self {
        case .locked: "another program keeps its index locked"
        case .occupied: "something else has the name of its index, \(DiskIndex.fileName)"
        case .newer: "a newer version of Halcyon has made its index"
        }
    }
}

extension DatabaseError {
    /// Whether the database itself is unusable, in contrast to one that is busy or cannot grow.
    var tellsOfDamage: Bool {
        switch resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_SCHEMA, .SQLITE_TOOBIG,
            .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            true
        // A statement has exceeded the steps of all of ours.
        case .SQLITE_INTERRUPT: true
        case .SQLITE_IOERR: extendedResultCode == .SQLITE_IOERR_SHORT_READ
        default: tellsOfReplacement
        }
    }

    /// Whether the database's file was moved or removed while it was open.
    var tellsOfReplacement: Bool {
        extendedResultCode == .SQLITE_READONLY_DBMOVED || resultCode == .SQLITE_CANTOPEN
    }

    /// Whether another process has kept a lock for too long.
    var tellsOfLock: Bool { resultCode == .SQLITE_BUSY || resultCode == .SQLITE_LOCKED }
}

/// The timeout for the locks of other processes: 0.4 seconds by default, and no wait at all for
/// some seconds after a timeout.
///
/// So a held lock delays a load once, however many of its steps need the index.
final class LockPatience: Sendable {
    static let standard = Duration.milliseconds(400)
    /// The time without waits after a timeout.
    private static let pause = Duration.seconds(5)

    private typealias Instant = ContinuousClock.Instant

    private let clock = ContinuousClock()
    private let limit: Duration
    /// The end of the time without waits.
    private let exhausted = Mutex<Instant?>(nil)

    init(limit: Duration) {
        self.limit = limit
    }

    /// Returns a function that waits before the next attempt to get a lock, after so many (from 0)
    /// have failed, and returns `false` to give up. It blocks for ten milliseconds at most, and is
    /// for one thread at a time.
    func wait() -> @Sendable (_ failedTries: Int) -> Bool {
        let wait = Wait(patience: self)
        return { wait.goesOn(after: $0) }
    }

    /// Whether to try again at `now`, after so many attempts since `start`.
    private func lasts(_ tries: Int, since start: Instant, until now: Instant) -> Bool {
        exhausted.withLock { exhausted in
            if tries == 0 { return exhausted.map { now >= $0 } ?? true }
            guard now > start + limit else { return true }
            exhausted = now + Self.pause
            return false
        }
    }

    private final class Wait: Sendable {
        private let patience: LockPatience
        private let start: Mutex<Instant>

        init(patience: LockPatience) {
            self.patience = patience
            start = Mutex(patience.clock.now)
        }

        func goesOn(after tries: Int) -> Bool {
            let now = patience.clock.now
            let start = start.withLock { start in
                if tries == 0 { start = now }
                return start
            }
            guard patience.lasts(tries, since: start, until: now) else { return false }
            // Most locks are held for less than a millisecond.
            usleep(tries < 7 ? 100 << UInt32(tries) : 10_000)
            return true
        }
    }
}

import CIndexFiles
import Foundation
import GRDB

/// The SQLite database that knows the files of a cache folder.
///
/// Several processes may have it open. It holds nothing that cannot be lost: what it says of a file is
/// checked against the file, and a new index is filled from the files. It has a rollback journal, since
/// the memory that processes share for a write-ahead log would be a file in the folder, and whoever
/// cuts a file short that is mapped ends the process. The journal is written as `CIndexFiles` says.
final class DiskIndex: Sendable {
    /// Hidden, so that those who list the folder see cached files only.
    static let fileName = ".index.sqlite"
    /// The database and the files SQLite keeps beside it; the last two did so for former versions.
    static let fileNames = [fileName] + companions
    static let companions = ["journal", "wal", "shm"].map { "\(fileName)-\($0)" }

    let folder: CacheFolder
    /// Which file is open: somebody may have put another one in its place.
    private let identity: DiskFile.Identity
    /// Connections of their own, so that a write never delays a read of this process.
    private let reader: DatabaseQueue
    private let writer: DatabaseQueue

    /// Opens the database of that name in `folder`, which is at `path`.
    init(folder: CacheFolder, path: String, patience: LockPatience) throws {
        self.folder = folder
        guard let metadata = folder.metadata(Self.fileName), metadata.isRegular else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN)
        }
        identity = metadata.identity
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
        let plain = path.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default:
                "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return "file://\(plain.joined())?vfs=\(String(cString: vfs))"
    }

    /// Whether the open database is still the one in the folder.
    var isCurrent: Bool { folder.metadata(Self.fileName)?.identity == identity }

    /// The row of a file.
    func row(named name: String) throws -> IndexRow? {
        try read { try $0.row(named: name) }
    }

    /// Bytes of all files.
    func totalSize() throws -> Int {
        try read { try $0.totalSize() }
    }

    /// All rows, those of files used last first.
    func rows() throws -> [IndexRow] {
        try read { try $0.rows() }
    }

    /// Runs `body` as far as each of its statements is one view of the index.
    func read<T>(_ body: (IndexTransaction) throws -> T) throws -> T {
        try reader.unsafeRead { try body(IndexTransaction(db: $0)) }
    }

    /// Runs `body` while no other thread or process can change the index.
    func write<T>(_ body: (IndexTransaction) throws -> T) throws -> T {
        try writer.writeWithoutTransaction { db in
            // As `db.inTransaction` does, which has SQLite parse these statements each time.
            try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
            do {
                let result = try body(IndexTransaction(db: db))
                try db.cachedStatement(sql: "COMMIT").execute()
                return result
            } catch {
                // What counts is the first error.
                try? db.rollback()
                throw error
            }
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

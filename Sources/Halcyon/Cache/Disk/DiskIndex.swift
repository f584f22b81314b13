import Foundation
import GRDB
import GRDBSQLite

/// The SQLite database that knows the files of a cache folder.
///
/// Several processes may have it open. It holds nothing that cannot be lost: what it says of a file is
/// checked against the file, and a new index is filled from the files.
final class DiskIndex: Sendable {
    /// Hidden, so that those who list the folder see cached files only.
    static let fileName = ".index.sqlite"
    /// The database and the files SQLite keeps beside it.
    static let fileNames = [fileName, "\(fileName)-wal", "\(fileName)-shm"]
    private static let version = 1

    private let pool: DatabasePool
    private let path: String
    /// Which file is open: somebody may have put another one in its place.
    private let identity: DiskFile.Identity

    /// Opens the index of `folder`; a new one gets the rows that `adopting` makes of the folder.
    init(folder: String, adopting: () -> [IndexRow]) throws {
        path = "\(folder)/\(Self.fileName)"
        var configuration = Configuration()
        configuration.label = "halcyon.cache.index"
        configuration.busyMode = .timeout(10)
        configuration.maximumReaderCount = 4
        configuration.prepareDatabase { db in
            // When an unlinked database is closed, SQLite would delete the log of the database that
            // has taken its name.
            var keepsLog: CInt = 1
            sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &keepsLog)
        }
        pool = try DatabasePool(path: path, configuration: configuration)
        guard let metadata = DiskFile.metadata(path) else {
            throw DatabaseError(resultCode: .SQLITE_CANTOPEN)
        }
        identity = metadata.identity
        try pool.writeWithoutTransaction { db in
            // The files are not synced either: after a power failure a damaged index is rebuilt, and
            // a damaged file is found by its checksum.
            try db.execute(sql: "PRAGMA synchronous = OFF")
        }
        try migrate(adopting)
    }

    private func migrate(_ adopting: () -> [IndexRow]) throws {
        try write { transaction in
            let version = try transaction.version()
            if version == Self.version { return }
            // Not a migration: an index of another version is rebuilt like a lost one.
            guard version == 0 else { throw DatabaseError(resultCode: .SQLITE_NOTADB) }
            try transaction.db.execute(sql: Self.schema)
            for row in adopting() { try transaction.upsert(row) }
            try transaction.setVersion(Self.version)
        }
    }

    private static let schema = """
        CREATE TABLE files (
            name TEXT PRIMARY KEY NOT NULL,
            key TEXT,
            size INTEGER NOT NULL,
            checksum INTEGER,
            expires REAL NOT NULL,
            accessed REAL NOT NULL,
            format TEXT
        ) WITHOUT ROWID;
        CREATE INDEX files_by_access ON files (accessed);
        CREATE TABLE total (bytes INTEGER NOT NULL);
        INSERT INTO total VALUES (0);
        CREATE TRIGGER file_added AFTER INSERT ON files BEGIN
            UPDATE total SET bytes = bytes + NEW.size;
        END;
        CREATE TRIGGER file_resized AFTER UPDATE OF size ON files BEGIN
            UPDATE total SET bytes = bytes + NEW.size - OLD.size;
        END;
        CREATE TRIGGER file_removed AFTER DELETE ON files BEGIN
            UPDATE total SET bytes = bytes - OLD.size;
        END;
        """

    /// Whether the open database is still the one in the folder.
    var isCurrent: Bool { DiskFile.metadata(path)?.identity == identity }

    /// The row of a file.
    func row(named name: String) throws -> IndexRow? {
        try pool.unsafeRead { db in
            try IndexTransaction(db: db).row(named: name)
        }
    }

    /// Bytes of all files.
    func totalSize() throws -> Int {
        try pool.unsafeRead { db in
            try IndexTransaction(db: db).totalSize()
        }
    }

    /// Runs `body` while no other thread or process can change the index.
    func write<T>(_ body: (IndexTransaction) throws -> T) throws -> T {
        try pool.writeWithoutTransaction { db in
            var result: T?
            try db.inTransaction(.immediate) {
                result = try body(IndexTransaction(db: db))
                return .commit
            }
            return result!
        }
    }
}

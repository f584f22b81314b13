import Foundation
import GRDB
import Glibc

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
                // What is in the way can be neither used nor removed.
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

    /// Removes the index, or what else has its name. Folders with something in them stay.
    static func removeFiles(in folder: CacheFolder) {
        for name in fileNames where !folder.remove(name) && errno == EISDIR {
            _ = folder.removeFolder(name)
        }
    }

    /// Removes the index. What is not ours is moved out of the way, whatever it is.
    static func clearWay(in folder: CacheFolder, at path: String, patience: LockPatience) throws {
        var isOccupied = false
        do {
            _ = try existing(in: folder, at: path, patience: patience)
        } catch IndexUnavailable.occupied {
            isOccupied = true
        } catch is IndexUnavailable {
            // One that is locked is ours, or is told apart next time.
        }
        // What is beside a database of others is theirs, too.
        if !isOccupied || folder.metadata(fileName)?.isFolder == true { removeFiles(in: folder) }
        let new = "\(fileName)-\(UInt32.random(in: 0 ... .max))"
        for name in fileNames where folder.metadata(name) != nil {
            try folder.rename(
                name, to: new + name.dropFirst(fileName.count), overwriting: false)
        }
    }

    /// The index that is there; `nil` when there is none, or something that has to be replaced.
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
            switch try index.read({ try $0.origin(applicationID, version) }) {
            case .ours:
                try index.keepJournal()
                return index
            case .outdated: return nil
            case .foreign: throw IndexUnavailable.occupied
            }
        } catch let error as DatabaseError where error.tellsOfLock {
            throw IndexUnavailable.locked
        } catch let error as DatabaseError where error.tellsOfDamage {
            return nil
        }
    }

    /// Whether what is beside the database may be used by SQLite: regular files, and no journal of
    /// several databases, since SQLite removes the file that such a one names.
    private static func hasSoundCompanions(_ folder: CacheFolder) -> Bool {
        for name in companions {
            guard let file = folder.metadata(name) else { continue }
            guard file.isRegular else { return false }
        }
        return !folder.ends(companions[0], with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
    }
}

extension CacheFolder {
    /// Whether the last bytes of a file are these.
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

extension IndexTransaction {
    /// Whose database it is.
    enum Origin {
        case ours
        /// An index of another version, one that is not whole, or a database with nothing in it.
        case outdated
        case foreign
    }

    /// Makes the tables and fills them.
    func fill(_ applicationID: Int, _ version: Int, _ rows: [IndexRow]) throws {
        for statement in Self.schema { try db.execute(sql: statement) }
        try db.execute(sql: "INSERT INTO total VALUES (0)")
        for row in rows { try upsert(row) }
        try db.execute(sql: "PRAGMA application_id = \(applicationID)")
        try setVersion(version)
    }

    /// Tells whose database it is, of which nothing but the schema is read.
    func origin(_ applicationID: Int, _ version: Int) throws -> Origin {
        let isMarked = try Int.fetchOne(db, sql: "PRAGMA application_id") == applicationID
        // No statement of ours is longer, and none are more.
        let found = try String.fetchSet(
            db,
            sql: """
                SELECT CAST(substr(sql, 1, 2000) AS TEXT) FROM sqlite_master
                WHERE sql IS NOT NULL LIMIT 100
                """)
        if isMarked {
            let isWhole =
                try found == Set(Self.schema)
                && Int.fetchOne(db, sql: "PRAGMA user_version") == version
                && String.fetchOne(db, sql: "PRAGMA journal_mode") != "wal"
            return isWhole ? .ours : .outdated
        }
        let isFormer = ["CREATE TABLE files (\n    name TEXT PRIMARY KEY", "CREATE TABLE total ("]
            .allSatisfy { beginning in found.contains { $0.hasPrefix(beginning) } }
        return found.isEmpty || isFormer ? .outdated : .foreign
    }

    private static let schema = [
        """
        CREATE TABLE files (
            name TEXT PRIMARY KEY NOT NULL,
            key TEXT,
            size INTEGER NOT NULL,
            checksum INTEGER,
            expires REAL NOT NULL,
            accessed REAL NOT NULL,
            format TEXT
        ) WITHOUT ROWID
        """,
        "CREATE INDEX files_by_access ON files (accessed)",
        "CREATE TABLE total (bytes INTEGER NOT NULL)",
        """
        CREATE TRIGGER file_added AFTER INSERT ON files BEGIN
            UPDATE total SET bytes = bytes + NEW.size;
        END
        """,
        """
        CREATE TRIGGER file_resized AFTER UPDATE OF size ON files BEGIN
            UPDATE total SET bytes = bytes + NEW.size - OLD.size;
        END
        """,
        """
        CREATE TRIGGER file_removed AFTER DELETE ON files BEGIN
            UPDATE total SET bytes = bytes - OLD.size;
        END
        """,
    ]
}

extension DatabaseError {
    /// Whether the database itself is unusable, in contrast to one that is busy or cannot grow.
    var tellsOfDamage: Bool {
        switch resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_SCHEMA, .SQLITE_TOOBIG,
            .SQLITE_CONSTRAINT, .SQLITE_MISMATCH:
            true
        case .SQLITE_IOERR: extendedResultCode == .SQLITE_IOERR_SHORT_READ
        default: tellsOfReplacement
        }
    }

    /// Whether the database's file was moved or removed while it was open.
    var tellsOfReplacement: Bool {
        extendedResultCode == .SQLITE_READONLY_DBMOVED || resultCode == .SQLITE_CANTOPEN
    }

    /// Whether somebody else has kept a lock for too long.
    var tellsOfLock: Bool { resultCode == .SQLITE_BUSY || resultCode == .SQLITE_LOCKED }
}

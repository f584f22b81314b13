import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// Indexes that others have written to, replaced or locked.
@Suite(.enabled(if: OtherProcess.isAvailable, "needs python3 as the other process"))
struct IndexOfOthersTests {
    let folder: TemporaryDirectory
    let storage: DiskStorage.Backend<Note>

    init() throws {
        folder = try TemporaryDirectory()
        storage = try folder.notes()
        try storage.store(value: Note("one"), forKey: "1")
        try storage.store(value: Note("two"), forKey: "2", expiration: .never)
    }

    private var index: String {
        storage.directoryURL.appendingPathComponent(DiskIndex.fileName).path
    }

    /// Runs a script in another process, in which `db` is the index or the database at a path, until it
    /// says "done" after the first statements.
    private func run(on path: String? = nil, _ script: String) throws -> OtherProcess {
        let other = try OtherProcess(
            """
            import sqlite3, sys, fcntl, os
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            \(script)
            print("done", flush=True)
            sys.stdin.readline()
            """, arguments: [path ?? index])
        #expect(other.readLine() == "done")
        return other
    }

    /// Has another process lock the folder.
    private var lock: String {
        """
        lock = os.open('\(storage.directoryURL.path)', os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        """
    }

    /// Executes statements, each in a process of its own.
    private func execute(_ statements: [String]) async throws {
        for statement in statements { try await run("db.execute(\"\(statement)\")").kill() }
    }

    @Test(arguments: [
        "UPDATE files SET size = 'many'", "UPDATE files SET size = -1",
        "UPDATE files SET size = 9223372036854775807", "UPDATE files SET size = 0.5",
        "UPDATE files SET checksum = x'00'", "UPDATE files SET checksum = 'none'",
        "UPDATE files SET expires = 'never'", "UPDATE files SET expires = 9e999",
        "UPDATE files SET expires = -9e999, accessed = 9e999", "UPDATE files SET accessed = x'ff'",
        "UPDATE files SET format = x'80'", "UPDATE files SET key = x'8081'",
        "UPDATE files SET key = 5", "INSERT INTO files VALUES (x'ff00', NULL, 1, NULL, 1, 1, NULL)",
        "INSERT INTO files VALUES (x'6162', NULL, 1, NULL, 1, 1, NULL)",
        "INSERT INTO files VALUES (CAST(x'6199' AS TEXT), NULL, 1, NULL, 1, 1, NULL)",
        "INSERT INTO files VALUES (7, NULL, 1, NULL, 1, 1, NULL)",
        "INSERT INTO files VALUES ('', NULL, 1, NULL, 1, 1, NULL)",
        "INSERT INTO files VALUES ('a' || char(0) || 'b', NULL, 1, NULL, 1, 1, NULL)",
        "UPDATE total SET bytes = 'x'", "UPDATE total SET bytes = -5", "DELETE FROM total",
        "UPDATE total SET bytes = 9223372036854775807", "INSERT INTO total VALUES (1)",
        "DROP TABLE total", "DROP TABLE files", "DROP INDEX files_by_access",
        "CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM files; END",
        "PRAGMA user_version = 99", "PRAGMA application_id = 5", "PRAGMA journal_mode = WAL",
    ])
    func rowsThatMakeNoSenseHarmNothing(statement: String) async throws {
        try await execute([statement])
        for storage in [storage, try folder.notes()] {
            storage.config.sizeLimit = 1000
            for (key, text) in [("1", "one"), ("2", "two")] {
                let value = try storage.value(forKey: key)
                #expect(value == nil || value == Note(text))
            }
            _ = try storage.entries()
            _ = try storage.removeExpiredValues()
            _ = try storage.removeSizeExceededValues()
            _ = try storage.totalSize()
            try storage.store(value: Note("three"), forKey: "3")
            #expect(try folder.notes().value(forKey: "3") == Note("three"))
        }
        _ = try storage.removeExpiredValues()
        let sizes = try storage.entries().reduce(0) { $0 + $1.size }
        #expect(try storage.totalSize() == UInt(sizes))
        // So many of the three texts have so many bytes together.
        let count = [5: 1, 8: 2, 11: 3][sizes] ?? -1
        #expect(try storage.removeAllFiles().count == storage.entries().count + count)
    }

    @Test(arguments: ["file", "link", "hard link"])
    func aDatabaseOfOthersIsNotTouched(way: String) async throws {
        let others = folder.file("notes.sqlite").path
        try await run(
            on: others,
            "db.execute('CREATE TABLE notes (text)'); db.execute('PRAGMA user_version = 1')"
        ).kill()
        let before = try Data(contentsOf: URL(fileURLWithPath: others))
        storage.loseIndex()
        switch way {
        case "link": #expect(symlink(others, index) == 0)
        case "hard link": #expect(link(others, index) == 0)
        default: try FileManager.default.copyItem(atPath: others, toPath: index)
        }
        for storage in [storage, try folder.notes()] {
            #expect(try storage.value(forKey: "1") == Note("one"))
            try storage.store(value: Note("three"), forKey: "3")
            #expect(try storage.value(forKey: "3") == Note("three"))
            #expect(try storage.totalSize() == 11)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: others)) == before)
        if way != "link" { #expect(try Data(contentsOf: URL(fileURLWithPath: index)) == before) }
        #expect(try folder.notes().removeAllFiles().count == 3)
        try storage.store(value: Note("four"), forKey: "4")
        #expect(try folder.notes().entries().map(\.key) == ["4"], "there is an index again")
        #expect(try Data(contentsOf: URL(fileURLWithPath: others)) == before)
    }

    @Test func aJournalThatNamesAnotherFileRemovesNothing() async throws {
        let victim = try folder.write(Data("dear".utf8), to: "victim.txt")
        // The journal of a transaction over several databases: SQLite removes the file at its end.
        try await run(
            """
            import struct
            name = b"\(victim.path)"
            head = bytes.fromhex("d9d505f920a163d7")
            page = head + struct.pack(">IIIII", 0, 0, 2, 512, 4096)
            sum = sum(name) & 0xffffffff
            end = struct.pack(">I", 0x40000000 // 4096 + 1) + name
            end += struct.pack(">II", len(name), sum) + head
            open(sys.argv[1] + "-journal", "wb").write(page.ljust(512, b"\\0") + end)
            """
        ).kill()
        let other = try folder.notes()
        #expect(try other.value(forKey: "1") == Note("one"))
        try other.store(value: Note("three"), forKey: "3")
        #expect(try Data(contentsOf: victim) == Data("dear".utf8))
    }

    /// What an older Halcyon finds when `statements` have been run on the index.
    private func entries(after statements: [String]) async throws -> [DiskStorage.Entry] {
        try await execute(statements)
        return try folder.notes().entries()
    }

    @Test func tablesOfANewerHalcyonStayAndTakeNothingFromAnOlderOne() async throws {
        let entries = try await entries(after: [
            "CREATE TABLE colours (name TEXT PRIMARY KEY NOT NULL, main INTEGER) WITHOUT ROWID",
            "INSERT INTO colours VALUES ('1', 255)",
        ])
        #expect(Set(entries.map(\.key)) == ["1", "2"], "an index made again would have no keys")
        let other = try folder.notes()
        try other.store(value: Note("three"), forKey: "3")
        #expect(try other.value(forKey: "3") == Note("three"))
        try await run("assert db.execute('SELECT main FROM colours').fetchall() == [(255,)]").kill()
    }

    /// Changes of a newer Halcyon that take nothing away.
    private static let additions = [
        "ALTER TABLE files ADD COLUMN note TEXT",
        "ALTER TABLE files ADD COLUMN level INTEGER NOT NULL DEFAULT 7",
        "ALTER TABLE responses ADD COLUMN more BLOB",
        "CREATE INDEX files_by_format ON files (format, size)",
        "CREATE TABLE log (name TEXT, what TEXT)",
        "CREATE TRIGGER log_added AFTER INSERT ON files BEGIN "
            + "INSERT INTO log VALUES (NEW.name, 'added'); END",
        "CREATE TRIGGER log_removed AFTER DELETE ON files BEGIN "
            + "INSERT INTO log VALUES (OLD.name, 'removed'); END",
        "CREATE VIEW formats AS SELECT format, count(*) FROM files GROUP BY format",
        "UPDATE files SET note = 'a note'", "PRAGMA user_version = 3",
    ]

    @Test func anIndexOfANewerHalcyonIsUsedAndWhatIsNotKnownOfItStays() async throws {
        let before = try storage.entries()
        #expect(try await entries(after: Self.additions) == before, "with keys and expirations")
        let older = try folder.notes()
        #expect(try older.value(forKey: "2") == Note("two"))
        try older.store(value: Note("three"), forKey: "3")
        try older.store(value: Note("eins"), forKey: "1")
        try older.remove(forKey: "2")
        #expect(try older.removeExpiredValues() == [])
        #expect(try folder.notes().value(forKey: "3") == Note("three"))
        #expect(try older.totalSize() == 9)
        let (one, two, three) = ("1".kf.sha256, "2".kf.sha256, "3".kf.sha256)
        try await run(
            """
            rows = db.execute("SELECT name, note, level FROM files").fetchall()
            assert sorted(rows) == sorted([("\(one)", "a note", 7), ("\(three)", None, 7)]), rows
            rows = db.execute("SELECT * FROM log").fetchall()
            assert rows == [("\(three)", "added"), ("\(two)", "removed")], rows
            assert db.execute("PRAGMA user_version").fetchone() == (3,)
            assert db.execute("SELECT * FROM formats").fetchall()
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            """
        ).kill()
    }

    /// Changes of a newer Halcyon by which our statements no longer do what they did.
    @Test(arguments: [
        "ALTER TABLE files RENAME COLUMN expires TO ends", "DROP TRIGGER file_added",
        "CREATE UNIQUE INDEX one_file_each ON files (key)",
        "ALTER TABLE files ADD COLUMN place INTEGER NOT NULL DEFAULT 0; "
            + "DROP TABLE total; CREATE VIEW total AS SELECT sum(size) AS bytes FROM files",
    ])
    func anIndexOfANewerHalcyonThatIsNotUnderstoodIsLeftAlone(changes: String) async throws {
        try await execute(changes.components(separatedBy: "; ") + ["PRAGMA user_version = 3"])
        let before = try Data(contentsOf: URL(fileURLWithPath: index))
        let older = try folder.notes()
        #expect(try older.value(forKey: "1") == Note("one"))
        try older.store(value: Note("three"), forKey: "3")
        #expect(try older.value(forKey: "3") == Note("three"))
        #expect(try older.entries().count == 3)
        #expect(try Data(contentsOf: URL(fileURLWithPath: index)) == before)
        #expect(try folder.notes().removeAllFiles().count == 3)
        #expect(try older.names() == [], "it is Halcyon's, and goes with everything")
    }

    @Test func aTriggerThatDoesNotEndHasTheIndexMadeAgain() async throws {
        let endless =
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT sum(n) FROM c"
        try await execute([
            "CREATE TRIGGER t AFTER INSERT ON files BEGIN \(endless); END",
            "PRAGMA user_version = 3",
        ])
        let older = try folder.notes()
        #expect(Set(try older.entries().map(\.key)) == ["1", "2"])
        try older.store(value: Note("three"), forKey: "3")
        #expect(try folder.notes().value(forKey: "3") == Note("three"))
        #expect(try older.entries().map(\.key).contains("3"))
    }

    @Test(arguments: [
        "CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM files; END",
        "CREATE VIEW v AS SELECT * FROM files", "CREATE INDEX i ON files (upper(name))",
        "CREATE VIRTUAL TABLE w USING fts5 (words)",
    ])
    func whatWouldRunWithOurStatementsHasTheIndexMadeAgain(statement: String) async throws {
        #expect(try await entries(after: [statement]).map(\.key) == [nil, nil])
        let other = try folder.notes()
        #expect(try other.value(forKey: "1") == Note("one"))
        #expect(try other.value(forKey: "2") == Note("two"))
    }

    @Test func anIndexOfAFormerVersionLeavesNoSecrets() async throws {
        storage.loseIndex()
        try await run(
            """
            db.execute("PRAGMA journal_mode = WAL")
            db.execute('''CREATE TABLE files (
                name TEXT PRIMARY KEY NOT NULL,
                key TEXT,
                size INTEGER NOT NULL
            ) WITHOUT ROWID''')
            db.execute("CREATE TABLE total (bytes INTEGER NOT NULL)")
            db.execute("INSERT INTO files VALUES ('a', 'https://host/?token=t0ps3cret', 3)")
            db.execute("PRAGMA user_version = 1")
            """
        ).kill()
        #expect(try folder.notes().value(forKey: "1") == Note("one"))
        for name in try storage.names() {
            let bytes = try Data(contentsOf: storage.directoryURL.appendingPathComponent(name))
            #expect(bytes.range(of: Data("t0ps3cret".utf8)) == nil, "\(name)")
        }
    }

    // MARK: Transactions

    @Test func aProcessKilledInATransactionChangesNothing() async throws {
        let other = try run("db.execute('BEGIN IMMEDIATE'); db.execute('DELETE FROM files')")
        #expect(try storage.value(forKey: "1") == Note("one"), "writers do not delay readers")
        await other.kill()
        try storage.store(value: Note("three"), forKey: "3")
        #expect(try storage.value(forKey: "1") == Note("one"))
        #expect(try storage.totalSize() == 11)
    }

    @Test func aStoreWaitsForTheTransactionOfAnotherProcess() throws {
        // Ends with its process.
        let other = try run("db.execute('BEGIN IMMEDIATE')")
        let started = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { [storage] in
            started.signal()
            #expect(throws: Never.self) { try storage.store(value: Note("three"), forKey: "3") }
            done.signal()
        }
        started.wait()
        other.writeLine("go on")
        done.wait()
        #expect(try storage.value(forKey: "3") == Note("three"))
    }

    @Test func aFileOfAnotherProcessIsSeenAtOnce() async throws {
        #expect(try storage.value(forKey: "3") == nil)
        let path = storage.cacheFileURL(forKey: "3").path
        let checksum = DiskFile.checksum(Data("three".utf8))
        try await run(
            """
            open("\(path)", "w").write("three")
            db.execute("INSERT INTO files VALUES (?, 'k', 5, ?, 4e9, 1.0, NULL)",
                       ("\("3".kf.sha256)", \(checksum)))
            """
        ).kill()
        #expect(try storage.value(forKey: "3") == Note("three"))
        #expect(try storage.totalSize() == 11)
    }

    // MARK: Locks

    @Test(arguments: ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", nil])
    func aLockOfOthersIsDoneWithout(transaction: String?) async throws {
        let other = try run(transaction.map { "db.execute('\($0)')" } ?? lock)
        for storage in [storage, try folder.notes()] {
            #expect(try storage.value(forKey: "1") == Note("one"))
            #expect(storage.isCached(forKey: "2"))
            try storage.store(value: Note("three"), forKey: "3")
            #expect(try storage.value(forKey: "3") == Note("three"))
            #expect(storage.isCached(forKey: "3"))
            #expect(try storage.value(forKey: "4") == nil)
            try storage.store(value: Note("four"), forKey: "4")
            try storage.remove(forKey: "4")
            #expect(try storage.value(forKey: "4") == nil)
        }
        await other.kill()
        storage.files.flushAccesses()
        let fresh = try folder.notes()
        #expect(try fresh.value(forKey: "3") == Note("three"), "the row is written when it can be")
        #expect(try fresh.value(forKey: "4") == nil)
        #expect(try fresh.totalSize() == 11)
    }

    @Test func aLostIndexIsDoneWithoutWhileTheFolderIsLocked() async throws {
        storage.loseIndex()
        let other = try run(on: ":memory:", lock)
        let locked = try folder.notes()
        #expect(try locked.value(forKey: "1") == Note("one"))
        #expect(try locked.totalSize() == 6)
        #expect(try locked.entries().count == 2)
        #expect(access(index, F_OK) != 0)
        await other.kill()
        #expect(try locked.value(forKey: "2") == Note("two"))
        #expect(try locked.entries().count == 2)
    }

    @Test func openingWhatIsThereTakesNoLock() async throws {
        // Whoever wants to write or to lock the folder would fail.
        let other = try run("db.execute('BEGIN IMMEDIATE')\n" + lock)
        let fresh = try folder.notes()
        let row = try fresh.files.reading { try $0.row(named: "2".kf.sha256) }
        #expect(row??.expires == IndexRow.never, "it is the index that answers")
        await other.kill()
    }

    @Test func anExpiredFileStaysAMissWithoutTheIndex() async throws {
        let old = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, storage.cacheFileURL(forKey: "1").path, old, 0) == 0)
        let other = try run("db.execute('BEGIN EXCLUSIVE')")
        let fresh = try folder.notes()
        #expect(try fresh.value(forKey: "1") == nil)
        #expect(!fresh.isCached(forKey: "1"))
        #expect(try fresh.value(forKey: "2") == Note("two"))
        await other.kill()
    }

    @Test func everythingCanBeRemovedWhateverIsLocked() async throws {
        let other = try run("db.execute('BEGIN EXCLUSIVE')\n" + lock)
        #expect(try folder.notes().removeAllFiles().count == 2)
        #expect(try storage.names() == [])
        await other.kill()
        #expect(try storage.value(forKey: "1") == nil)
        try storage.store(value: Note("one"), forKey: "1")
        #expect(try folder.notes().entries().map(\.key) == ["1"])
    }
}

/// A Python script in a process of its own.
final class OtherProcess {
    private let process: ChildProcess
    private let input = Pipe()
    private let output = Pipe()

    private static let interpreter = "/usr/bin/python3"
    static let isAvailable = FileManager.default.isExecutableFile(atPath: interpreter)

    init(_ script: String, arguments: [String]) throws {
        process = try ChildProcess(
            executable: Self.interpreter, arguments: ["-c", script] + arguments,
            standardInput: input.fileHandleForReading.fileDescriptor,
            standardOutput: output.fileHandleForWriting.fileDescriptor, standardError: 2)
        // Reading ends with the script.
        try output.fileHandleForWriting.close()
        try input.fileHandleForReading.close()
    }

    deinit { process.send(SIGKILL) }

    /// The next line the script prints; waits for it.
    func readLine() -> String {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1),
            byte != Data("\n".utf8),
            !byte.isEmpty
        {
            line += byte
        }
        return String(decoding: line, as: UTF8.self)
    }

    func writeLine(_ text: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data("\(text)\n".utf8))
    }

    /// Ends the process without giving it a chance to tidy up, and waits until it is gone.
    func kill() async {
        process.send(SIGKILL)
        _ = await process.exitCode()
    }
}

import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// What other processes do to a folder that is in use.
@Suite(.enabled(if: OtherProcess.isAvailable, "needs python3 as the other process"))
struct DiskStorageProcessTests {
    let folder: TemporaryDirectory
    let storage: DiskStorage.Backend<Note>

    init() throws {
        folder = try TemporaryDirectory()
        storage = try folder.notes()
        try storage.store(value: Note("one"), forKey: "1")
    }

    private func run(_ script: String) throws -> OtherProcess {
        let index = storage.directoryURL.appendingPathComponent(DiskIndex.fileName).path
        return try OtherProcess(script, arguments: [index])
    }

    @Test func aProcessKilledInATransactionChangesNothing() async throws {
        let other = try run(
            """
            import sqlite3, sys, time
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM files")
            print("ready", flush=True)
            time.sleep(1000)
            """)
        #expect(other.readLine() == "ready")
        #expect(try storage.value(forKey: "1") == Note("one"), "writers do not delay readers")
        await other.kill()
        try storage.store(value: Note("two"), forKey: "2")
        #expect(try storage.value(forKey: "1") == Note("one"))
        #expect(try storage.totalSize() == 6)
    }

    @Test func aStoreWaitsForTheTransactionOfAnotherProcess() throws {
        let other = try run(
            """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            db.execute("BEGIN IMMEDIATE")
            print("ready", flush=True)
            sys.stdin.readline()
            db.execute("COMMIT")
            """)
        #expect(other.readLine() == "ready")
        let started = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        DispatchQueue.global().async { [storage] in
            started.signal()
            #expect(throws: Never.self) { try storage.store(value: Note("two"), forKey: "2") }
            done.signal()
        }
        started.wait()
        other.writeLine("go on")
        done.wait()
        #expect(try storage.value(forKey: "2") == Note("two"))
    }

    @Test func aFileOfAnotherProcessIsSeenAtOnce() throws {
        #expect(try storage.value(forKey: "2") == nil)
        let path = storage.cacheFileURL(forKey: "2").path
        let checksum = DiskFile.checksum(Data("two".utf8))
        let other = try run(
            """
            import sqlite3, sys
            open("\(path)", "w").write("two")
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            db.execute("INSERT INTO files VALUES (?, 'k', 3, ?, 4e9, 1.0, NULL)",
                       ("\("2".kf.sha256)", \(checksum)))
            print("done", flush=True)
            """)
        #expect(other.readLine() == "done")
        #expect(try storage.value(forKey: "2") == Note("two"))
        #expect(try storage.totalSize() == 6)
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

    deinit {
        process.send(SIGKILL)
    }

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

import Foundation
import Glibc
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// The program and a cache folder that others have been at.
@Suite(.timeLimit(.minutes(20)))
struct HostileCacheProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer

    init() async throws { (program, origin) = try await Self.start() }

    private func fill() async throws {
        #expect(try await load().exitCode == 0)
    }

    private func load(_ options: String...) async throws -> Program.Outcome {
        try await program.run(
            ["load", url("a.png?token=t0ps3cret"), "--cache-directory", "cache"] + options)
    }

    private var cachedFile: String {
        get throws {
            let name = try names(in: "cache").first { !$0.hasPrefix(".") }
            return program.folder.file("cache/\(try #require(name))").path
        }
    }

    private var index: String { program.folder.file("cache/.index.sqlite").path }

    @Test func aFIFOInThePlaceOfTheFileOrOfTheIndexIsNoObstacle() async throws {
        try await fill()
        let file = try cachedFile
        #expect(unlink(file) == 0 && mkfifo(file, 0o600) == 0)
        #expect(try await load("--only-from-cache").exitCode == 1)
        #expect(try await load().exitCode == 0)
        #expect(unlink(index) == 0 && mkfifo(index, 0o600) == 0)
        #expect(try await load("--only-from-cache").exitCode == 0)
        #expect(try await cache("info").rows.first?["files"] as? Int == 1)
    }

    @Test func aLockedFolderIsNoObstacle() async throws {
        try await fill()
        let folder = open(program.folder.file("cache").path, O_RDONLY)
        defer { close(folder) }
        #expect(flock(folder, LOCK_EX) == 0)
        #expect(try await load("--only-from-cache").exitCode == 0)
        #expect(unlink(index) == 0)
        #expect(try await load("--only-from-cache").exitCode == 0)
        #expect(try await load("--force-refresh").exitCode == 0)
    }

    @Test func clearMendsWhateverIsInThePlaceOfTheIndexAndCountsWhatItRemoves() async throws {
        try await fill()
        #expect(unlink(index) == 0 && mkdir(index, 0o700) == 0)
        try program.folder.write(Data("mine".utf8), to: "cache/.index.sqlite/letter")
        try program.folder.write(Data("half".utf8), to: "cache/.tmp-1-abc")
        let removed = try await cache("clear").row["removed"] as? [String: Int]
        #expect(removed?["files"] == 2 && removed?["bytes"] == Pictures.png().count + 4)
        try await fill()
        #expect(try await cache("list").rows.count == 1)
        #expect(try await cache("list").rows.first?["key"] is String, "the index works again")
    }

    @Test func secretsAreNotListed() async throws {
        try await fill()
        let key = try await cache("list").rows.first?["key"] as? String
        #expect(key == url("a.png?token=***"))
        let table = try await program.run("cache", "list", "--cache-directory", "cache")
        #expect(!table.output.contains("t0ps3cret"))
    }

    @Test func aFIFOInThePlaceOfAPictureIsRefusedAtOnce() async throws {
        let fifo = program.folder.file("fifo.png").path
        #expect(mkfifo(fifo, 0o600) == 0)
        let both = open(fifo, O_RDWR | O_CLOEXEC)
        defer { close(both) }
        #expect(write(both, "x", 1) == 1)
        let outcome = try await program.run(["load", fifo, "--cache-directory", "cache"])
        #expect(outcome.exitCode == 1)
    }
}

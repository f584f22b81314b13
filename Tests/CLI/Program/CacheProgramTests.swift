import Foundation
import Halcyon
import HalcyonStorage
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

@Suite(.timeLimit(.minutes(20))) struct CacheProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer

    init() async throws { (program, origin) = try await Self.start() }

    private func fill() async throws {
        _ = try await program.run(
            "load", url("a.png"), url("b.gif"), "--cache-directory", "cache", code: 0)
    }

    @Test func infoCountsFilesAndBytes() async throws {
        try await fill()
        try await cache("info").row.expect([
            "path": program.folder.file("cache").path, "files": 2,
            "bytes": Pictures.png().count + Pictures.gif.count, "limit": NSNull(),
        ])
    }

    @Test func lookingDoesNotMakeAFolder() async throws {
        #expect(try await cache("info").rows.first?["files"] as? Int == 0)
        #expect(try await cache("list").output.isEmpty)
        #expect(try await cache("clear").exitCode == 0)
        #expect(!FileManager.default.fileExists(atPath: program.folder.file("cache").path))
    }

    @Test func listNamesEveryFile() async throws {
        try await fill()
        let rows = try await cache("list").rows
        #expect(Set(rows.compactMap { $0["key"] as? String }) == [url("a.png"), url("b.gif")])
        #expect(Set(rows.compactMap { $0["format"] as? String }) == ["PNG", "GIF"])
        for row in rows {
            let name = try #require(row["file"] as? String)
            let file = program.folder.file("cache/\(name)")
            #expect(try Data(contentsOf: file).count == row["bytes"] as? Int)
            let expires = try #require(row["expires"] as? String)
            let used = try #require(row["lastAccess"] as? String)
            let date = try Date(expires, strategy: .iso8601)
            #expect(try date.timeIntervalSince(Date(used, strategy: .iso8601)) > 6 * 86400)
        }
        let table = try await program.run("cache", "list", "--cache-directory", "cache")
        #expect(table.lines.count == 4 && table.output.contains(url("a.png")))
    }

    @Test func pathIsWhereTheFileIs() async throws {
        try await fill()
        let folder = try await program.run("cache", "path", "--cache-directory", "cache")
        #expect(folder.lines == [program.folder.file("cache").path])
        let file = try await program.run(
            "cache", "path", url("a.png"), "--cache-directory", "cache")
        let path = try #require(file.lines.first)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Pictures.png())
    }

    @Test func theDefaultCacheIsInTheFolderForCaches() async throws {
        let outcome = try await program.run("cache", "path")
        #expect(outcome.lines == [program.folder.file("caches/halcyon/default").path])
    }

    @Test func cleanRemovesWhatIsTooMuch() async throws {
        try await fill()
        let expired = try await cache("clean").row["expired"] as? [String: Int]
        #expect(expired?["files"] == 0)
        let row = try await cache("clean", "--size-limit", "1").row
        let exceeding = row["exceeding"] as? [String: Int]
        let bytes = Pictures.png().count + Pictures.gif.count
        #expect(exceeding?["files"] == 2 && exceeding?["bytes"] == bytes)
        #expect(try await cache("info").row["files"] as? Int == 0)
    }

    @Test func clearRemovesEverything() async throws {
        try await fill()
        let removed = try await cache("clear").row["removed"] as? [String: Int]
        #expect(removed == ["files": 2, "bytes": Pictures.png().count + Pictures.gif.count])
        #expect(try names(in: "cache").allSatisfy { $0.hasPrefix(".") })
    }

    // MARK: Responses

    /// Stores an image as what was made of a response.
    private func put(_ url: String, received: Double) throws {
        var config = DiskStorage.Config(
            name: "default", sizeLimit: 0, directory: program.folder.file("cache"))
        config.cachePathBlock = { folder, _ in folder }
        let files = CacheDirectory(config: config, now: { Date() })
        try files.makeFolder()
        let row = ResponseRow(
            key: url, variant: Data(), vary: "", url: url, status: 200,
            fields: Data(#"[["ETag","\"a\""]]"#.utf8), requested: received, received: received,
            generation: 5, bodyLength: nil, bodyChecksum: nil, freshUntil: received + 60,
            isInvalidated: false, used: received)
        let file = try files.newFile(
            files.fileName(forKey: url), forKey: url, expiration: .never, overwriting: true,
            derivation: .response(key: url, variant: Data(), generation: 5, isOriginal: true),
            response: ResponsePut(row: row)
        ) { Pictures.png() }
        try files.store(#require(file))
    }

    @Test func responsesTellsWhatServersSaid() async throws {
        #expect(try await cache("responses").output.isEmpty)
        try put("https://host/old.png?token=secret", received: 1_700_000_000)
        try put("https://host/new.png", received: Date().timeIntervalSince1970 - 5)
        let rows = try await cache("responses").rows
        #expect(
            rows.map { $0["url"] as? String }
                == ["https://host/new.png", "https://host/old.png?token=***"])
        let old = try #require(rows.last)
        try old.expect([
            "status": 200, "freshUntil": "2023-11-14T22:14:20Z", "isInvalidated": false,
            "etag": "\"a\"", "lastModified": NSNull(),
        ])
        #expect((old["age"] as? Int).map { $0 > 86400 } == true)
        #expect(rows.map { $0["isFresh"] as? Bool } == [true, false])
        #expect(rows.first?["images"] as? [String] == ["https://host/new.png"])
        let table = try await program.run("cache", "responses", "--cache-directory", "cache")
        #expect(table.lines.count == 4 && table.output.contains("https://host/new.png"))
        #expect(!table.output.contains("secret"))
    }

    @Test func invalidateHasTheServerAsked() async throws {
        for name in ["a", "b", "c"] { try put("https://host/\(name).png", received: 1_700_000_000) }
        func invalidated() async throws -> Set<String> {
            Set(
                try await cache("responses").rows.filter { $0["isInvalidated"] as? Bool == true }
                    .compactMap { $0["url"] as? String })
        }
        let one = try await cache("invalidate", "https://host/a.png").rows
        #expect(one.first?["invalidated"] as? Int == 1)
        #expect(try await invalidated() == ["https://host/a.png"])
        let none = try await program.run(
            "cache", "invalidate", "https://host/d.png", "--cache-directory", "cache", code: 0)
        #expect(none.lines == ["invalidated 0 responses"])
        _ = try await cache("invalidate", "--matching", "https://host/*")
        #expect(try await invalidated().count == 3)
        for arguments in [["invalidate"], ["invalidate", "a", "--matching", "b"]] {
            #expect(try await program.run(["cache"] + arguments).exitCode == 64)
        }
    }

    @Test func aPatternWithASecretThatMatchesNothingIsExplained() async throws {
        // As the cache keeps it.
        try put("https://host/old.png?token=***&size=2", received: 1_700_000_000)
        let outcome = try await cache(
            "invalidate", "--matching", "https://host/*?token=secret&size=2")
        #expect(outcome.exitCode == 0)
        #expect(try outcome.rows.first?["invalidated"] as? Int == 0)
        let pattern = "https://host/*?token=***&size=2"
        #expect(
            outcome.error
                == "halcyon: The cache keeps no secrets of URLs; to match these, use --matching '\(pattern)'\n"
        )
        let hinted = try await cache("invalidate", "--matching", pattern)
        #expect(try hinted.rows.first?["invalidated"] as? Int == 1)
        #expect(hinted.error.isEmpty)
        let other = try await cache("invalidate", "--matching", "https://other/*")
        #expect(other.error.isEmpty)
    }

    @Test func clearSaysWhatItCannotRemove() async throws {
        try await fill()
        let folder = program.folder.file("cache")
        // Root may remove everything, and so is somebody else here.
        let script = """
            chmod 755 . && chmod 555 cache && chmod 644 cache/* cache/.[!.]*
            [ "$(id -u)" = 0 ] && as="setpriv --reuid=65534 --regid=65534 --clear-groups"
            $as "$0" "$@"; code=$?; chmod 755 cache; exit $code
            """
        let outcome = try await program.run(
            ["cache", "clear", "--cache-directory", "cache"], script: script, code: 1)
        #expect(outcome.output.isEmpty)
        #expect(
            outcome.error
                == "halcyon: 2 files in \(folder.path) could not be removed: Permission denied\n")
        #expect(try await cache("info").rows.first?["files"] as? Int == 2)
    }

    @Test(arguments: ["clear", "clean"])
    func aFolderThatIsNoCacheIsLeftAlone(command: String) async throws {
        let file = try program.folder.write(Data("mine".utf8), to: "cache/letter.txt")
        let outcome = try await cache(command)
        #expect(outcome.exitCode == 1 && outcome.error.contains("letter.txt"))
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }
}

import Foundation
import Halcyon
import HalcyonStorage
import HalcyonTestKit
import Testing

@testable import HalcyonCLI

/// `halcyon load --http-caching`: how an image came about, from run to run.
@Suite(.timeLimit(.minutes(10))) struct HTTPCachingProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer
    private let picture = Pictures.png()

    init() async throws { (program, origin) = try await Self.start() }

    private var address: String { url("a.png") }

    private func answer(_ cacheControl: String) -> OriginResponse {
        .png(picture).cacheControl(cacheControl).with(.entityTag("\"one\""))
    }

    private func load(_ more: String...) async throws -> Program.Outcome {
        try await program.run(
            ["load", "--http-caching", "--cache-directory", "cache"] + more + [address])
    }

    /// The only row of a run that succeeds.
    private func row(_ more: String...) async throws -> [String: Any] {
        let outcome = try await program.run(
            ["load", "--http-caching", "--json", "--cache-directory", "cache"] + more + [address])
        #expect(try outcome.exitCode == 0 && outcome.rows.count == 1)
        return try outcome.row
    }

    @Test func whatIsFreshIsNotAskedFor() async throws {
        origin.route("/a.png", answer("max-age=600"))
        let first = try await row()
        try first.expect(["httpCacheUse": "fetched", "cacheType": "none"])
        let second = try await row()
        try second.expect(["httpCacheUse": "fresh", "cacheType": "disk", "bytes": picture.count])
        #expect(origin.requestCount == 1)
        #expect(try await row("--force-refresh")["httpCacheUse"] as? String == "fetched")
        #expect(origin.requestCount == 2)
    }

    @Test(arguments: [[], ["--processor", "resize:20x10"]])
    func whatIsStaleIsValidated(arguments: [String]) async throws {
        origin.route("/a.png", answer("max-age=0, stale-while-revalidate=600"))
        let all = ["load", "--http-caching", "--json", "--cache-directory", "cache", address]
        for (use, condition) in [("fetched", nil), ("validated", "\"one\"")] {
            let outcome = try await program.run(all + arguments)
            #expect(try outcome.rows.first?["httpCacheUse"] as? String == use)
            #expect(origin.requests(for: "/a.png").last?.headers["If-None-Match"] == condition)
        }
        #expect(origin.requestCount == 2)
    }

    @Test func whatMayNotBeStoredIsSaidToBe() async throws {
        origin.route("/a.png", answer("no-store"))
        #expect(try await row()["httpCacheUse"] as? String == "fetched-not-stored")
        #expect(try await load().output.contains("loaded (fetched, not stored) in"))
        #expect(origin.requestCount == 2)
    }

    @Test func aStaleImageIsBetterThanAnError() async throws {
        origin.route("/a.png", answer("max-age=0, stale-if-error=600"))
        #expect(try await load().output.contains("loaded (fetched) in"))
        #expect(try await load().output.contains("from disk (validated) in"))
        origin.route("/a.png", .status(503))
        let told = try await load()
        #expect(told.exitCode == 0)
        #expect(told.output.contains("from disk (stale: ") && told.output.contains("503"))
        let stale = try await row()
        #expect(stale["httpCacheUse"] as? String == "stale-error")
        let error = stale["staleError"] as? [String: Any]
        #expect(error?["code"] as? Int == 2002)
        #expect((error?["message"] as? String)?.contains("503") == true)
        let asked = origin.requestCount
        let accepted = try await row("--only-from-cache")
        #expect(accepted["httpCacheUse"] as? String == "stale-accepted")
        #expect(accepted["staleError"] == nil)
        #expect(origin.requestCount == asked)
    }

    @Test func withoutTheOptionNothingIsAskedOrTold() async throws {
        origin.route("/a.png", answer("no-cache"))
        let arguments = ["load", "--json", "--cache-directory", "cache", address]
        for _ in 0..<2 {
            let row = try await program.run(arguments).row
            #expect(row["width"] as? Int == 40 && row["httpCacheUse"] == nil)
        }
        #expect(origin.requestCount == 1)
    }
}

/// A cache folder that an earlier version of the program has written, with an index of version 2.
@Suite(.timeLimit(.minutes(20))) struct EarlierCacheProgramTests {
    private let program: Program
    private let address = "http://127.0.0.1:18080"

    init() throws {
        program = try Program()
        let cache = program.folder.file("cache")
        try FileManager.default.copyItem(at: SampleFile.url("EarlierState/cache"), to: cache)
        try FileManager.default.moveItem(
            at: cache.appending(path: "index.sqlite"), to: cache.appending(path: ".index.sqlite"))
    }

    private func rows(_ arguments: String...) async throws -> [[String: Any]] {
        let outcome = try await program.run(arguments + ["--json", "--cache-directory", "cache"])
        #expect(outcome.exitCode == 0, "\(outcome.error)")
        return try outcome.rows
    }

    @Test func picturesAreFoundByTheirAddress() async throws {
        let found = try await rows(
            "load", "--only-from-cache", "\(address)/microaneurysms.png",
            "\(address)/kingfisher.avif")
        #expect(found.map { $0["cacheType"] as? String } == ["disk", "disk"])
        #expect(found.map { $0["width"] as? Int } == [102, 240])
        #expect(found.map { $0["bytes"] as? Int } == [4950, 8054])
    }

    @Test func processedPicturesAreFoundByTheirProcessor() async throws {
        let found = try await rows(
            "load", "--only-from-cache", "--processor", "downsample:40x40",
            "\(address)/kingfisher.avif")
        #expect(found.map { $0["cacheType"] as? String } == ["disk"])
        #expect(found.map { $0["bytes"] as? Int } == [1883])
        #expect(found.map { $0["width"] as? Int } == [40])
    }

    @Test func responsesAndFilesAreKnown() async throws {
        let responses = try await rows("cache", "responses")
        let images = Dictionary(
            uniqueKeysWithValues: responses.map {
                ($0["url"] as? String, ($0["images"] as? [String])?.count)
            })
        #expect(
            images == [
                "\(address)/microaneurysms.png": 1, "\(address)/kingfisher.avif": 2,
                "\(address)/moved.png": 0,
            ])
        #expect(Set(responses.compactMap { $0["etag"] as? String }) == ["\"one\""])
        let files = try await rows("cache", "list")
        #expect(files.count == 3)
        #expect(files.reduce(0) { $0 + ($1["bytes"] as? Int ?? 0) } == 14887)
        #expect(try await rows("cache", "clean").count == 1)
        #expect(try await rows("cache", "list").count == 3)
    }
}

/// The cache's use for local files, and `--no-cache`.
@Suite(.timeLimit(.minutes(20))) struct LocalCacheProgramTests: ProgramSuite {
    let program: Program
    let origin: OriginServer

    init() async throws { (program, origin) = try await Self.start() }

    private func rows(_ arguments: String...) async throws -> [[String: Any]] {
        try await program.run(["load", "--json"] + arguments, code: 0).rows
    }

    private func types(_ rows: [[String: Any]]) -> [String?] {
        rows.map { $0["cacheType"] as? String }
    }

    private var cachedKeys: [String] {
        get async throws { try await cache("list").rows.compactMap { $0["key"] as? String } }
    }

    @Test func filesAreReadWhereTheyAre() async throws {
        try program.folder.write(Pictures.png(), to: "a.png")
        let uri = "data:image/png;base64,\(Pictures.png().base64EncodedString())"
        for _ in 0..<2 {
            let found = try await rows("a.png", uri, "--cache-directory", "cache")
            #expect(types(found) == ["none", "none"])
        }
        #expect(try await cachedKeys == [])
        try program.folder.write(Data("a.png\n".utf8), to: "list.txt")
        let prefetched = try await program.run(
            "prefetch", "list.txt", "--json", "--cache-directory", "cache", code: 0)
        #expect(try prefetched.rows.first?["status"] as? String == "completed")
        #expect(try await cachedKeys == [])
    }

    @Test func onlyWhatAProcessorMakesOfAFileIsCached() async throws {
        try program.folder.write(Pictures.png(), to: "a.png")
        let arguments = ["a.png", "--processor", "resize:20x15", "--cache-directory", "cache"]
        for type in ["none", "disk"] {
            let row = try await program.run(["load", "--json"] + arguments, code: 0).row
            try row.expect(["cacheType": type, "width": 20])
        }
        let keys = try await cachedKeys
        #expect(keys.count == 1 && keys[0].contains("@"))
        // Another picture of another size has another key.
        try program.folder.write(Pictures.png(width: 80, height: 60), to: "a.png")
        let changed = try await program.run(["load", "--json"] + arguments, code: 0).row
        try changed.expect([
            "cacheType": "none", "bytes": Pictures.png(width: 80, height: 60).count,
        ])
        try program.folder.write(Data("a.png\n".utf8), to: "list.txt")
        let skipped = try await program.run(
            ["prefetch", "list.txt", "--json"] + arguments.dropFirst(), code: 0)
        #expect(try skipped.rows.first?["status"] as? String == "skipped")
    }

    @Test func aFileThatIsGivenTwiceIsTheSameTwice() async throws {
        let jpeg = try Image.decoding(Pictures.png()).kf.data(format: .JPEG, options: .init())
        try program.folder.write(jpeg, to: "a.jpg")
        for row in try await rows("a.jpg", "a.jpg", "--jobs", "1") {
            try row.expect(["format": "JPEG", "bytes": jpeg.count, "width": 40])
        }
    }

    @Test(arguments: [[], ["--processor", "resize:20x15"]])
    func withoutACacheNothingIsFoundAndNothingIsStored(options: [String]) async throws {
        try program.folder.write(Pictures.png(), to: "a.png")
        _ = try await program.run(["load", url("a.png")] + options, code: 0)
        let before = try await program.run("cache", "list", "--json").rows.count
        #expect(before > 0)
        for count in 2...3 {
            let outcome = try await program.run(
                ["load", "--json", "--no-cache", url("a.png"), url("c.png"), "a.png"] + options,
                code: 0)
            #expect(try types(outcome.rows) == ["none", "none", "none"])
            #expect(origin.requestCount(for: "/a.png") == count)
        }
        #expect(try await program.run("cache", "list", "--json").rows.count == before)
    }

    @Test func theDefaultCacheHasALimit() async throws {
        let row = try await program.run("cache", "info", "--json").row
        #expect(row["limit"] as? Int == 1_000_000_000)
    }
}

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
        let part = try await cache("invalidate", "--matching", "*token=secret&*")
        #expect(part.error.hasSuffix("use --matching '*token=***&*'\n"))
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

import Foundation
import Halcyon
import HalcyonTestKit
import Testing

/// `halcyon load --http-caching`: how an image came about, from run to run.
@Suite(.timeLimit(.minutes(10)))
struct HTTPCachingProgramTests {
    private let program: Program
    private let origin: OriginServer
    private let picture = Pictures.png()

    init() async throws {
        program = try Program()
        origin = try await OriginServer.start()
    }

    private var url: String { origin.url("/a.png").absoluteString }

    private func answer(_ cacheControl: String) -> OriginResponse {
        .png(picture).cacheControl(cacheControl).with(.entityTag("\"one\""))
    }

    private func load(_ more: String...) async throws -> Program.Outcome {
        try await program.start(
            ["load", "--http-caching", "--cache-directory", "cache"] + more + [url]
        ).outcome()
    }

    /// The only row of a run that succeeds.
    private func row(_ more: String...) async throws -> [String: Any] {
        let outcome = try await program.start(
            ["load", "--http-caching", "--json", "--cache-directory", "cache"] + more + [url]
        ).outcome()
        #expect(outcome.exitCode == 0)
        let rows = try outcome.rows
        #expect(rows.count == 1)
        return try #require(rows.first)
    }

    @Test func whatIsFreshIsNotAskedFor() async throws {
        origin.route("/a.png", answer("max-age=600"))
        let first = try await row()
        #expect(first["httpCacheUse"] as? String == "fetched")
        #expect(first["cacheType"] as? String == "none")
        let second = try await row()
        #expect(second["httpCacheUse"] as? String == "fresh")
        #expect(second["cacheType"] as? String == "disk")
        #expect(second["bytes"] as? Int == picture.count)
        #expect(origin.requestCount == 1)
        #expect(try await row("--force-refresh")["httpCacheUse"] as? String == "fetched")
        #expect(origin.requestCount == 2)
    }

    @Test(arguments: [[], ["--processor", "resize:20x10"]])
    func whatIsStaleIsValidated(arguments: [String]) async throws {
        origin.route("/a.png", answer("max-age=0, stale-while-revalidate=600"))
        let all = ["load", "--http-caching", "--json", "--cache-directory", "cache", url]
        for (use, condition) in [("fetched", nil), ("validated", "\"one\"")] {
            let outcome = try await program.start(all + arguments).outcome()
            #expect(try outcome.rows.first?["httpCacheUse"] as? String == use)
            #expect(origin.requests(for: "/a.png").last?.headers["If-None-Match"] == condition)
        }
        #expect(origin.requestCount == 2)
    }

    @Test func aChangedImageIsFetched() async throws {
        origin.route("/a.png", answer("no-cache"))
        #expect(try await row()["width"] as? Int == 40)
        let other = Pictures.png(width: 8, height: 8)
        origin.route("/a.png", .png(other).cacheControl("no-cache").with(.entityTag("\"two\"")))
        let changed = try await row()
        #expect(changed["httpCacheUse"] as? String == "fetched")
        #expect(changed["width"] as? Int == 8)
    }

    @Test func whatMayNotBeStoredIsSaidToBe() async throws {
        origin.route("/a.png", answer("no-store"))
        #expect(try await row()["httpCacheUse"] as? String == "fetched-not-stored")
        #expect(try await load().output.contains("loaded (fetched, not stored) in"))
        #expect(origin.requestCount == 2)
    }

    @Test func aStaleImageIsBetterThanAnError() async throws {
        origin.route("/a.png", answer("max-age=0, stale-if-error=600"))
        _ = try await row()
        origin.route("/a.png", .status(503))
        let stale = try await row()
        #expect(stale["httpCacheUse"] as? String == "stale-error")
        let error = stale["staleError"] as? [String: Any]
        #expect(error?["code"] as? Int == 2002)
        #expect((error?["message"] as? String)?.contains("503") == true)
        let accepted = try await row("--only-from-cache")
        #expect(accepted["httpCacheUse"] as? String == "stale-accepted")
        #expect(accepted["staleError"] == nil)
        #expect(origin.requestCount == 2)
    }

    @Test func peopleAreToldToo() async throws {
        origin.route("/a.png", answer("max-age=0, stale-if-error=600"))
        #expect(try await load().output.contains("loaded (fetched) in"))
        #expect(try await load().output.contains("from disk (validated) in"))
        origin.route("/a.png", .status(503))
        let stale = try await load()
        #expect(stale.exitCode == 0)
        #expect(stale.output.contains("from disk (stale: "))
        #expect(stale.output.contains("503"))
    }

    @Test func withoutTheOptionNothingIsAskedOrTold() async throws {
        origin.route("/a.png", answer("no-cache"))
        let arguments = ["load", "--json", "--cache-directory", "cache", url]
        for _ in 0..<2 {
            let outcome = try await program.start(arguments).outcome()
            let row = try #require(try outcome.rows.first)
            #expect(row["width"] as? Int == 40)
            #expect(row["httpCacheUse"] == nil)
        }
        #expect(origin.requestCount == 1)
    }
}

import Foundation
import Halcyon
import HalcyonTestKit
import Testing

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
            #expect(row["width"] as? Int == 40)
            #expect(row["httpCacheUse"] == nil)
        }
        #expect(origin.requestCount == 1)
    }
}

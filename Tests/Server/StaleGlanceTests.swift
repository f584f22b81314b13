import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonServer

/// Pictures of other servers whose sources' time is over: one server asks, for all.
///
/// One server keeps sources for as long as its settings say. For the others, which go by the words of the sources'
/// servers, the time of the same sources is over at once; a confirmation says a longer one.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct StaleGlanceTests {
    private let shared: SharedPictures
    private var origin: OriginServer { shared.origin }

    init() async throws { shared = try await SharedPictures() }

    private func target(_ options: String) -> String { shared.target(options) }

    /// One that has made pictures of the source and told of them.
    private func maker(of options: [String], areLarge: Bool = false) async throws {
        let one = try await shared.server(areLarge: areLarge)
        for options in options {
            #expect(try color(try await one.ask(target(options))) == [10, 200, 30])
        }
        await one.wait(forLeases: "published", options.count + 1)
        #expect(origin.requestCount == 1)
    }

    /// One of those that go by the words of the source's server.
    private func server(
        areLarge: Bool = false, staleWhileRevalidate: Duration = .zero
    ) async throws -> LiveServer {
        try await shared.server(areLarge: areLarge) {
            $0.http.passesCacheControl = true
            $0.cache.staleWhileRevalidate = staleWhileRevalidate
            $0.cache.negativeTTL = .seconds(600)
        }
    }

    @Test(arguments: [false, true])
    func whatOneHasHadConfirmedNobodyAsksAboutAgain(areLarge: Bool) async throws {
        try await maker(of: ["w:10", "w:20"], areLarge: areLarge)
        shared.route(PNGFixture.green, tag: 1) { $0.cacheControl("max-age=3600") }
        func server() async throws -> LiveServer { try await self.server(areLarge: areLarge) }
        let two = try await server()
        #expect(try color(try await two.ask(target("w:10"))) == [10, 200, 30])
        #expect(origin.requestCount == 2)
        #expect(origin.requests.last?.headers["If-None-Match"] == "\"1\"")
        // Of the picture it says so at once, of the source too.
        await two.wait(forLeases: "amended", 1)
        await two.wait(forLeases: "published", 1)
        // Another picture of the source says so when somebody has found that it is still good.
        let three = try await server()
        let other = try await three.ask(target("w:20"))
        #expect(try color(other) == [10, 200, 30])
        #expect(other.hasDetail("shared"))
        await three.wait(forLeases: "amended", 1)
        // From then on one question is enough, for both.
        for options in ["w:10", "w:20"] {
            let four = try await server()
            let answer = try await four.ask(target(options))
            #expect(try color(answer) == [10, 200, 30])
            #expect(answer.hasDetail("shared"))
            #expect(try await four.leases("found") == 1)
            #expect(try await four.metric("halcyon_leases_total") == 1)
        }
        for live in [two, three] { #expect(try await live.metric("halcyon_images_total") == 0) }
        #expect(origin.requestCount == 2)
    }

    @Test(arguments: [false, true])
    func aStalePictureIsSentAtOnceByAllWhileOneAsks(areLarge: Bool) async throws {
        try await maker(of: ["w:10"], areLarge: areLarge)
        let gate = Gate()
        shared.route(PNGFixture.green, tag: 1) {
            $0.cacheControl("max-age=3600").with(.wait(.gate(gate)))
        }
        var servers: [LiveServer] = []
        for _ in 0..<3 {
            servers.append(
                try await server(areLarge: areLarge, staleWhileRevalidate: .seconds(36_000)))
        }
        for _ in 0..<3 {
            for live in servers {
                // Nobody waits: the source's server has not answered yet.
                let answer = try await live.ask(target("w:10"))
                #expect(try color(answer) == [10, 200, 30])
                #expect(answer.hasDetail("stale"))
            }
        }
        await gate.waitForWaiters()
        await LiveServer.waitForWaiters(servers)
        #expect(origin.requestCount == 2)
        gate.open()
        // What the one was told counts for all.
        for live in servers {
            await live.server.stores.sources.remote?.known.underWay.wait { $0.isEmpty }
            let status = try await live.ask(target("w:10"))["Cache-Status"]
            #expect(status?.hasSuffix("detail=stale") == false)
            #expect(try await live.metric("halcyon_images_total") == 0)
        }
        #expect(origin.requestCount == 2)
        #expect(origin.requests.last?.headers["If-None-Match"] == "\"1\"")
    }

    /// That there is a newer one, or none any more.
    @Test(arguments: [false, true])
    func aStalePictureIsNotSentOnceAnotherServerKnowsBetter(isGone: Bool) async throws {
        try await maker(of: ["w:10", "w:20"])
        shared.route(PNGFixture.red, tag: 2) { $0.cacheControl("max-age=3600") }
        if isGone { origin.route("/a.png", .status(410)) }
        func expectBetter(_ answer: LiveServer.Answer) throws {
            if isGone { return #expect(answer.status == 410) }
            #expect(try color(answer) == [200, 10, 30])
        }
        let two = try await server()
        try expectBetter(try await two.ask(target("w:10")))
        await two.wait(forLeases: "published", isGone ? 1 : 2)
        let three = try await server(staleWhileRevalidate: .seconds(36_000))
        try expectBetter(try await three.ask(target("w:20")))
        #expect(origin.requestCount == 2)
    }

    @Test func aPurgedPictureIsNotSentThoughStaleOnesAre() async throws {
        try await maker(of: ["w:10"])
        let (two, three) = (
            try await server(staleWhileRevalidate: .seconds(36_000)),
            try await server(staleWhileRevalidate: .seconds(36_000))
        )
        // The source's server is wrong: it would confirm the old one.
        shared.route(PNGFixture.red, tag: 1)
        let url = origin.url("/a.png").absoluteString
        #expect(try await two.purge("source", url).contains("\"told\":true"))
        #expect(try color(try await three.ask(target("w:10"))) == [200, 10, 30])
    }
}

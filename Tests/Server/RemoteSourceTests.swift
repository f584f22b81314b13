import Foundation
import HalcyonHTTP
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
import Testing

/// Pictures of other servers: what is fetched, how often, and what never is.
@Suite struct RemoteSourceTests {
    private let picture = PNGFixture.green
    private let origin: OriginServer

    init() async throws { origin = try await OriginServer.start(files: ["/a.png": picture]) }

    private func start(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start(origin) {
            $0.http.errorBodies = .full
            try change(&$0)
        }
    }

    @Test func aPictureOfAnotherServerIsFetchedOnce() async throws {
        let live = try await start()
        let first = try await live.ask(origin.target())
        first.expect(200, ["Cache-Status": "halcyon; fwd=uri-miss; stored"])
        #expect(try first.pixelSize == PixelSize(width: 10, height: 5))
        let other = try await live.ask(origin.target("/a.png", "w:20"))
        #expect(other["Cache-Status"]?.hasSuffix("stored; detail=source") == true)
        #expect(try await live.ask(origin.target()).body == first.body)
        #expect(origin.requestCount == 1)
        let request = try #require(origin.requests.first)
        #expect(request.headers["Accept"] == "image/*")
        #expect(request.headers["Accept-Encoding"] == "identity")
        #expect(request.headers["User-Agent"] == "Halcyon/\(ImageServer.version)")
    }

    @Test func otherSpellingsOfAURLAreOneSource() async throws {
        origin.route("/~a.png", .png(picture))
        let live = try await start()
        // In a URL of the server, a percent sign of the source is written as %25.
        for path in ["/~a.png", "/%257Ea.png", "/%257e%2561%252epng", "/b/%252E%252E/~a.png"] {
            let target = "/_/w:10/plain/http://127.0.0.1:\(origin.port)\(path)"
            #expect(try await live.ask(target).status == 200, "\(path)")
        }
        #expect(origin.requestCount == 1)
    }

    @Test func aSourceOnTheDiskNeedsNoSecondFetch() async throws {
        let folder = try TemporaryDirectory()
        let first = try await start { $0.cache.directory = folder.url.path }
        #expect(try await first.ask(origin.target()).status == 200)
        await first.listening.stop()
        let second = try await start { $0.cache.directory = folder.url.path }
        #expect(try await second.ask(origin.target("/a.png", "w:11")).status == 200)
        #expect(origin.requestCount == 1)
    }

    @Test func aSourceWhoseTimeIsOverIsAskedForByItsTag() async throws {
        origin.route("/a.png", .png(picture).with(.entityTag("\"1\"")))
        let live = try await start { $0.askAgain() }
        let first = try await live.ask(origin.target())
        let second = try await live.ask(origin.target())
        #expect(first["ETag"] == second["ETag"])
        #expect(second["Cache-Status"] == "halcyon; fwd=stale; fwd-status=304")
        #expect(origin.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\""])
        let changed = PNGFixture.solid(Pixel(0, 0, 0), width: 30, height: 30)
        origin.route("/a.png", .png(changed).with(.entityTag("\"2\"")))
        let third = try await live.ask(origin.target())
        #expect(third["ETag"] != first["ETag"])
        #expect(third["Cache-Status"] == "halcyon; fwd=stale; fwd-status=200; stored")
        #expect(try third.pixelSize == PixelSize(width: 10, height: 10))
    }

    @Test func aStaleSourceIsUsedWhileItsServerIsAskedAndWhenItFails() async throws {
        origin.route("/a.png", .png(picture).with(.entityTag("\"1\"")))
        let live = try await start {
            $0.sources.freshness = .zero
            $0.cache.staleWhileRevalidate = .seconds(60)
        }
        _ = try await live.ask(origin.target())
        let stale = try await live.ask(origin.target())
        #expect(stale.status == 200)
        let status = try #require(stale["Cache-Status"])
        #expect(status.wholeMatch(of: /halcyon; hit; ttl=-\d+; detail=stale/) != nil, "\(status)")
        await origin.waitForRequests(2)

        let strict = try await start { $0.askAgain() }
        _ = try await strict.ask(origin.target())
        origin.route("/a.png", .status(503))
        let failed = try await strict.ask(origin.target())
        #expect(failed.status == 200)
        let words = try #require(failed["Cache-Status"])
        #expect(
            words.wholeMatch(of: /halcyon; hit; ttl=-\d+; detail=stale-if-error/) != nil,
            "\(words)")
    }

    @Test func whoJoinsTheFetchOfAnotherIsToldSo() async throws {
        let gate = Gate()
        origin.route("/a.png", .png(picture).with(.wait(.gate(gate))))
        let live = try await start()
        async let first = live.ask(origin.target("/a.png", "w:10"))
        await origin.waitForRequests(1)
        async let second = live.ask(origin.target("/a.png", "w:11"))
        await live.server.metrics.collapsed.wait(["source"]) { $0 == 1 }
        gate.open()
        #expect(try await first["Cache-Status"] == "halcyon; fwd=uri-miss; stored")
        #expect(try await second["Cache-Status"] == "halcyon; fwd=uri-miss; stored; collapsed")
        #expect(origin.requestCount == 1)
    }

    @Test(arguments: [404, 403, 410])
    func anErrorOfTheOriginIsPassedOnAndRememberedForAWhile(status: Int) async throws {
        origin.route("/a.png", .status(status))
        let live = try await start { $0.cache.negativeTTL = .seconds(600) }
        for number in 0..<3 {
            let answer = try await live.told(origin.target())
            #expect(answer.status == status && answer.code == "source_status")
            #expect(answer["Cache-Status"] == (number == 0 ? nil : "halcyon; hit; detail=negative"))
        }
        #expect(origin.requestCount == 1)
    }

    @Test func aPauseUntilADateIsToldInSeconds() async throws {
        origin.route(
            "/a.png",
            .status(429).header("Date", "Tue, 01 Jul 2025 10:00:00 GMT")
                .header("Retry-After", "Tue, 01 Jul 2025 10:03:20 GMT"))
        let live = try await start()
        #expect(try await live.ask(origin.target())["Retry-After"] == "200")
    }

    @Test(arguments: [429, 503])
    func anOriginThatAsksForAPauseIsLeftAlone(status: Int) async throws {
        for path in ["/b.png", "/c.png"] { origin.route(path, .png(picture)) }
        origin.route("/a.png", .status(status).header("Retry-After", "200"))
        let live = try await start { $0.askAgain() }
        #expect(try await live.ask(origin.target("/b.png")).status == 200)
        #expect(try await live.ask(origin.target()).status >= 500)
        #expect(origin.requestCount == 2)
        let refused = try await live.told(origin.target("/c.png"))
        #expect(refused.status == 503 && refused.code == "source_busy")
        #expect((190...200).contains(refused["Retry-After"].flatMap { Int($0) } ?? 0))
        // What is known is used, though stale.
        let stale = try await live.ask(origin.target("/b.png"))
        #expect(stale.status == 200)
        #expect(stale["Cache-Status"]?.contains("stale-if-error") == true)
        #expect(origin.requestCount == 2)
    }

    @Test func anOriginThatDoesNotSayHowLongIsAskedAgain() async throws {
        origin.route("/b.png", .png(picture))
        origin.route("/a.png", .status(503))
        let live = try await start()
        #expect(try await live.ask(origin.target()).status == 502)
        #expect(try await live.ask(origin.target("/b.png")).status == 200)
    }

    @Test func theOriginsWordsAboutCachingCountWhenTheyArePassedOn() async throws {
        origin.route("/a.png", .png(picture).cacheControl("max-age=60, private"))
        origin.route("/b.png", .png(picture).cacheControl("public, max-age=99999999"))
        let live = try await start {
            $0.http.passesCacheControl = true
            $0.http.maxTTL = .seconds(100)
            $0.http.ttl = .seconds(1000)
        }
        #expect(try await live.ask(origin.target())["Cache-Control"]?.contains("private") == true)
        _ = try await live.ask(origin.target())
        #expect(origin.requestCount(for: "/a.png") == 2)
        let shared = try await live.ask(origin.target("/b.png"))
        #expect(shared["Cache-Control"] == "public, max-age=100")
    }

    @Test(arguments: ["private, max-age=60", "no-store, max-age=60"])
    func aConfirmationThatForbidsStoringIsUsedOnce(words: String) async throws {
        let tagged = OriginResponse.png(picture).with(.entityTag("\"1\""))
        origin.route("/a.png", tagged.cacheControl("max-age=0"))
        let live = try await start {
            $0.http.passesCacheControl = true
            $0.cache.staleWhileRevalidate = .zero
        }
        _ = try await live.ask(origin.target())
        origin.route("/a.png", tagged.cacheControl(words))
        for option in ["w:20", "w:21"] {
            #expect(try await live.ask(origin.target("/a.png", option)).status == 200)
        }
        #expect(origin.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\"", nil])
    }
}

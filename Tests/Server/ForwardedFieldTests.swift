import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// Header fields of clients that are handed on to the servers of sources.
@Suite struct ForwardedFieldTests {
    private let picture = PNGFixture.green
    private let origin: OriginServer

    init() async throws {
        origin = try await OriginServer.start(files: ["/a.png": picture, "/b.png": picture])
    }

    private func start(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start {
            $0.takeSources(of: origin)
            $0.sources.http.allow.append("http://127.0.0.2:*")
            $0.sources.http.forwardHeaders = ["X-Tenant", "cookie", "X-Request-ID"]
            $0.http.ttl = .seconds(100)
            try change(&$0)
        }
    }

    private func target(_ url: URL) -> String { "/_/w:10/plain/\(url.absoluteString)" }

    @Test func whatIsFetchedWithThemIsNotUsedForOthers() async throws {
        let live = try await start()
        let target = target(origin.url("/a.png"))
        for (fields, count) in [
            (["X-Tenant": "one"], 1), (["X-Tenant": "one", "X-Other": "1"], 1),
            (["X-Tenant": "two"], 2), ([:], 3), (["X-Tenant": "one"], 3),
            (["X-Tenant": "one", "Cookie": "a=b"], 4),
        ] {
            let answer = try await live.ask(target, fields: fields)
            #expect(answer.status == 200)
            #expect(origin.requestCount == count, "\(fields)")
            #expect(answer["Vary"] == "X-Tenant, cookie")
            let caching = fields.isEmpty ? "public, max-age=100" : "private, max-age=100"
            #expect(answer["Cache-Control"] == caching)
        }
        let last = try #require(origin.requests.last)
        #expect(last.headers["X-Tenant"] == "one" && last.headers["Cookie"] == "a=b")
        #expect(origin.requests.allSatisfy { $0.headers["X-Other"] == nil })
    }

    @Test func theNameOfARequestIsToldAndMakesNoOtherSource() async throws {
        let live = try await start()
        let target = target(origin.url("/a.png"))
        let first = try await live.ask(target, fields: ["X-Request-ID": "first"])
        _ = try await live.ask(target, fields: ["X-Request-ID": "second"])
        #expect(origin.requests.map { $0.headers["X-Request-ID"] } == ["first"])
        #expect(first["Cache-Control"] == "public, max-age=100")
    }

    @Test func anotherServerThatARedirectLeadsToDoesNotGetThem() async throws {
        let other = try await OriginServer.start(host: "127.0.0.2", files: ["/b.png": picture])
        origin.route("/a.png", .redirect(to: "/c.png"))
        origin.route("/c.png", .redirect(to: other.url("/b.png").absoluteString))
        let live = try await start {
            $0.sources.http.ports = [origin.port, other.port]
            $0.sources.http.forwardHeaders = ["X-Tenant", "Accept", "X-Request-ID"]
        }
        let answer = try await live.ask(
            target(origin.url("/a.png")), fields: ["X-Tenant": "one", "Accept": "image/png"])
        #expect(answer.status == 200)
        for request in origin.requests {
            #expect(request.headers["X-Tenant"] == "one")
            #expect(request.headers["Accept"] == "image/png")
        }
        let last = try #require(other.requests.first)
        #expect(last.headers["X-Tenant"] == nil && last.headers["X-Request-ID"] == nil)
        #expect(last.headers["Accept"] == "image/*")
    }

    @Test func aPurgeOfASourceReachesAllThatWereFetchedWithThem() async throws {
        let live = try await start()
        let url = origin.url("/a.png")
        func askForAll() async throws {
            for tenant in ["one", "two", "three"] {
                for url in [url, origin.url("/b.png")] {
                    _ = try await live.ask(target(url), fields: ["X-Tenant": tenant])
                }
            }
        }
        try await askForAll()
        #expect(try await live.purge("url", target(url)) == .purged(3, 0))
        #expect(origin.requestCount == 6)
        #expect(try await live.purge("source", url.absoluteString) == .purged(0, 3))
        try await askForAll()
        #expect(origin.requestCount == 9)
    }

    @Test func aServerMaySayThatItsAnswerDependsOnThem() async throws {
        let response = OriginResponse.png(picture).cacheControl("max-age=100")
        origin.route("/a.png", response.header("Vary", "X-Tenant, Accept-Encoding"))
        origin.route("/b.png", .png(picture).header("Vary", "X-Other"))
        let live = try await start { $0.http.passesCacheControl = true }
        for _ in 0..<2 {
            for path in ["/a.png", "/b.png"] {
                let answer = try await live.ask(
                    target(origin.url(path)), fields: ["X-Tenant": "one"])
                #expect(answer.status == 200)
            }
        }
        #expect(origin.requestCount(for: "/a.png") == 1)
        #expect(origin.requestCount(for: "/b.png") == 2)
    }
}

import Foundation
@testable import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Testing

/// Several image servers with a Redis between them: what one has fetched or made, the others need not.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct SharedRedisTests {
    private let picture = PNGFixture.green
    private let redis: RedisServer
    private let origin: OriginServer

    init() async throws {
        redis = try await RedisServer.start()
        origin = try await OriginServer.start(files: ["/a.png": picture])
    }

    private func server(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start(origin, redis, change)
    }

    /// The sum of all values of a metric.
    private func metric(_ name: String, _ servers: [LiveServer]) async throws -> Int {
        var sum = 0
        for server in servers { sum += try await server.metric(name) }
        return sum
    }

    @Test func aPictureThatAllWantAtOnceIsFetchedAndMadeByOne() async throws {
        let (origin, gate) = try await OriginServer.gated()
        let servers = try await LiveServer.several(3, origin, redis)
        let target = origin.target()
        let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
            for server in servers {
                for _ in 0..<10 {
                    group.addTask {
                        let answer = try await server.ask(target)
                        #expect(answer.status == 200)
                        return answer.body
                    }
                }
            }
            await gate.waitForWaiters()
            await LiveServer.waitForWaiters(servers)
            gate.open()
            return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
        }
        #expect(bodies.count == 1)
        #expect(origin.requestCount == 1)
        #expect(try await metric("halcyon_images_total", servers) == 1)
    }

    @Test func whatOneHasMadeOrFetchedIsThereForTheNext() async throws {
        let (one, two) = (try await server(), try await server())
        let made = try await one.ask(origin.target())
        let shared = try await two.ask(origin.target())
        #expect(made.body == shared.body && made["ETag"] == shared["ETag"])
        #expect(shared.hasDetail("shared"))
        // It is in its own caches now.
        #expect(try await two.ask(origin.target()).hasDetail("memory"))
        #expect(try await two.ask(origin.target("/a.png", "w:20")).status == 200)
        #expect(origin.requestCount == 1)
    }

    @Test func aFailureOfTheSourceIsKnownToAll() async throws {
        origin.route("/a.png", .status(410))
        origin.route("/b.png", .garbage())
        for _ in 0..<2 {
            let server = try await server { $0.cache.negativeTTL = .seconds(600) }
            #expect(try await server.ask(origin.target()).status == 410)
            #expect(try await server.ask(origin.target("/b.png")).status == 404)
        }
        #expect(origin.requestCount(for: "/a.png") == 1)
        #expect(origin.requestCount(for: "/b.png") == 1)
    }

    @Test func aFailureOfOneVersionOfASourceSaysNothingOfTheNext() async throws {
        origin.route("/a.png", .png(picture.prefix(40)).with(.entityTag("\"1\"")))
        let one = try await server { $0.cache.negativeTTL = .seconds(600) }
        #expect(try await one.ask(origin.target()).status != 200)
        await one.wait(forLeases: "published", 2)
        origin.route("/a.png", .png(picture).with(.entityTag("\"2\"")))
        let two = try await server {
            $0.cache.negativeTTL = .seconds(600)
            $0.askAgain(after: .milliseconds(1))
        }
        #expect(try await two.ask(origin.target()).status == 200)
    }

    @Test func whatOneMayNotFetchAnotherMay() async throws {
        let (one, two) = (try await server { $0.limits.maxSourceBytes = 20 }, try await server())
        #expect(try await one.ask(origin.target()).status != 200)
        #expect(try await two.ask(origin.target()).status == 200)
    }

    @Test func whatIsTooLargeToShareEachMakesForItself() async throws {
        for _ in 0..<2 {
            let server = try await server { $0.shared.redis.maxBytes = 10 }
            #expect(try await server.ask(origin.target()).status == 200)
            #expect(try await server.metric("halcyon_images_total") == 1)
        }
        #expect(origin.requestCount == 2)
    }

    @Test func withoutRedisEachServerIsReadyAndWorksAlone() async throws {
        let server = try await server { $0.shared.redis.timeout = .milliseconds(50) }
        await redis.kill()
        for width in 1...20 {
            #expect(try await server.ask(origin.target("/a.png", "w:\(width)")).status == 200)
            #expect(try await server.ask("/ready", operations: true).status == 200)
        }
        #expect(origin.requestCount == 1)
        let metrics = try await server.ask("/metrics", operations: true).text
        #expect(metrics.contains("halcyon_shared_breaker{engine=\"redis\",state=\"closed\"} 0"))
    }

    @Test func aSourceThatIsNotToBeStoredIsNotShared() async throws {
        origin.route("/a.png", .png(picture).cacheControl("private, max-age=60"))
        for _ in 0..<2 {
            let server = try await server { $0.http.passesCacheControl = true }
            #expect(try await server.ask(origin.target()).status == 200)
        }
        #expect(origin.requestCount == 2)
    }

    @Test func whatWasForgottenWhileAServerWasAwayIsForgottenByItToo() async throws {
        origin.route("/a.png", .png(picture).with(.entityTag("\"1\"")))
        let folder = try TemporaryDirectory()
        let one = try await server()
        let target = origin.target()
        let away = try await server { $0.cache.directory = folder.url.path }
        let old = try await away.ask(target)["ETag"]
        await away.listening.stop()
        _ = try await one.forget(source: origin.url("/a.png").absoluteString)
        origin.route(
            "/a.png",
            .png(PNGFixture.solid(Pixel(0, 0, 0), width: 30, height: 30)).with(.entityTag("\"2\"")))
        let back = try await server { $0.cache.directory = folder.url.path }
        await back.server.stores.sources.purges.heard.wait { $0 >= 1 }
        #expect(try await back.ask(target)["ETag"] != old)
        #expect(origin.requestCount == 2)
    }

    @Test func anOriginThatAsksOneForAPauseIsLeftAloneByAll() async throws {
        let (one, two) = (try await server(), try await server())
        origin.route("/a.png", .status(429).header("Retry-After", "200"))
        #expect(try await one.ask(origin.target()).status == 503)
        // One that comes later hears of it, too.
        for (number, live) in [two, try await server()].enumerated() {
            await live.server.stores.sources.remote?.pauses.wait(for: origin.url("/"))
            #expect(try await live.ask(origin.target("/\(number).png")).status == 503)
        }
        #expect(origin.requestCount == 1)
    }
}

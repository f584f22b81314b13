import Foundation
@testable import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Testing

/// Purges at one server of what others have put into Redis, or into a store of bytes.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct SharedPurgeTests {
    private let old = PNGFixture.green
    private let new = PNGFixture.red
    private let origin: OriginServer
    private let redis: RedisServer

    /// The server is wrong: all its pictures have one tag.
    init() async throws {
        (origin, redis) = (try await OriginServer.start(), try await RedisServer.start())
        origin.route("/2024/a.png", .png(old).with(.entityTag("\"1\"")))
    }

    private var place: URL { origin.url("/2024/a.png") }

    private func target(_ options: String = "w:10") -> String {
        origin.target("/2024/a.png", options)
    }

    private func isShared(_ answer: LiveServer.Answer) -> Bool {
        #expect(answer.status == 200, "\(answer.text)")
        return answer.hasDetail("shared")
    }

    /// Waits until servers have done all that one purge at another has them do.
    private func waitForPurge(_ servers: [LiveServer]) async {
        for live in servers { await live.server.stores.sources.purges.heard.wait { $0 >= 1 } }
    }

    @Test(arguments: ["source", "prefix", "all"])
    func aPurgeReachesPicturesThatOnlyOthersHaveShared(order: String) async throws {
        let servers = try await LiveServer.several(3, origin, redis)
        #expect(try color(try await servers[1].ask(target())) == [10, 200, 30])
        await servers[1].wait(forLeases: "published", 2)
        origin.route("/2024/a.png", .png(new).with(.entityTag("\"1\"")))
        let orders = [
            "source": "{\"source\":\"\(place)\"}",
            "prefix": "{\"prefix\":\"\(origin.url("/2024/").absoluteString)\"}",
            "all": "{\"all\":true}",
        ]
        #expect(try await servers[0].purge(orders[order] ?? "") == .purged(0, 0, told: true))
        // The last has never heard of the picture, and need not have heard of the purge.
        for live in [servers[2], servers[0]] {
            #expect(try color(try await live.ask(target())) == [200, 10, 30])
        }
        // One that has it in its own caches hears of the purge.
        await waitForPurge([servers[1]])
        #expect(try color(try await servers[1].ask(target())) == [200, 10, 30])
    }

    @Test func aPurgeByURLReachesThePictureThatOnlyAnotherHasShared() async throws {
        let all = try await LiveServer.several(4, origin, redis)
        let (one, two, three, four) = (all[0], all[1], all[2], all[3])
        for options in ["w:10", "w:20"] { #expect(!isShared(try await two.ask(target(options)))) }
        await two.wait(forLeases: "published", 3)
        #expect(isShared(try await four.ask(target("w:20"))))
        #expect(try await one.purge("url", target()) == .purged(0, 0, told: true))
        #expect(!isShared(try await three.ask(target())))
        // Another picture of that source is still good, and what has been made since is shared.
        #expect(isShared(try await three.ask(target("w:20"))))
        await waitForPurge([two, three, four])
        #expect(try await two.ask(target()).status == 200)
        #expect(isShared(try await four.ask(target())))
        #expect(origin.requestCount == 1)
    }

    @Test func aPurgeByURLReachesThePictureInAStoreThatOnlyAnotherHasPutThere() async throws {
        let bucket = try await Bucket()
        let servers = try await LiveServer.several(5, origin, redis) {
            bucket.use(&$0)
            // What was made longer ago than Redis remembers.
            $0.shared.redis.maxAge = .milliseconds(1)
        }
        #expect(!isShared(try await servers[1].ask(target())))
        let first = await bucket.picture(after: 0)
        #expect(isShared(try await servers[2].ask(target())))
        #expect(try await servers[0].purge("url", target()).contains("\"told\":true"))
        #expect(!isShared(try await servers[3].ask(target())))
        await waitForPurge(Array(servers[1...]))
        #expect(try await servers[2].ask(target()).status == 200)
        #expect(await bucket.picture(after: first) > first)
        #expect(isShared(try await servers[4].ask(target())))
    }

    @Test func aSourceFromBeforeAPurgeIsNotConfirmed() async throws {
        let one = try await LiveServer.start(origin, redis) { $0.askAgain(after: .milliseconds(1)) }
        let two = try await LiveServer.start(origin, redis)
        #expect(try color(try await one.ask(target())) == [10, 200, 30])
        try await one.keepSource(place, afterPurgeAt: two)
        origin.route("/2024/a.png", .png(new).with(.entityTag("\"1\"")))
        #expect(try color(try await one.ask(target())) == [200, 10, 30])
        #expect(origin.requests.last?.headers["If-None-Match"] == nil)
    }

    /// Nor is anybody told of that source by a picture that is too large for Redis, where a bucket has it.
    @Test(arguments: [false, true])
    func aPictureOfASourceFromBeforeAPurgeIsNotShared(areLarge: Bool) async throws {
        let bucket = try await Bucket()
        let all = try await LiveServer.several(2, origin, redis) {
            if areLarge { bucket.useForAll(&$0) }
        }
        let (one, two) = (all[0], all[1])
        #expect(try color(try await one.ask(target())) == [10, 200, 30])
        await one.wait(forLeases: "published", 2)
        try await one.keepSource(place, afterPurgeAt: two)
        let tag = areLarge ? "\"2\"" : "\"1\""
        origin.route("/2024/a.png", .png(new).with(.entityTag(tag)))
        #expect(try color(try await one.ask(target("w:20"))) == [10, 200, 30])
        await one.wait(forLeases: "published", 3)
        #expect(try color(try await two.ask(target("w:20"))) == [200, 10, 30])
    }

    @Test func aPurgeThatWasCarriedOutIsNotRepeatedAfterARestart() async throws {
        let folder = try TemporaryDirectory()
        func start() async throws -> LiveServer {
            try await LiveServer.start(origin, redis) { $0.cache.directory = folder.url.path }
        }
        let (one, two) = (try await start(), try await LiveServer.start(origin, redis))
        _ = try await two.purge("{\"all\":true}")
        await waitForPurge([one])
        #expect(!isShared(try await one.ask(target())))
        await one.listening.stop()
        let again = try await start()
        // When it has heard of this one it would have heard of the one before.
        _ = try await two.purge("source", origin.url("/other.png").absoluteString)
        await waitForPurge([again])
        #expect(try await again.ask(target()).hasDetail("disk"))
    }

    @Test func whatIsInAStoreIsNotUsedWhileNobodyTellsOfPurges() async throws {
        let bucket = try await Bucket()
        let servers = try await LiveServer.several(2, origin, redis) { bucket.use(&$0) }
        #expect(!isShared(try await servers[0].ask(target())))
        _ = await bucket.picture(after: 0)
        await redis.kill()
        #expect(!isShared(try await servers[1].ask(target())))
    }

    @Test func withoutRedisAPurgeRemovesWhatTheServerKnowsFromTheStore() async throws {
        let bucket = try await Bucket()
        var servers: [LiveServer] = []
        for _ in 0..<3 { servers.append(try await LiveServer.start(origin) { bucket.use(&$0) }) }
        #expect(!isShared(try await servers[0].ask(target())))
        await bucket.waitForPictures(1)
        #expect(isShared(try await servers[1].ask(target())))
        #expect(try await servers[0].purge("url", target()) == .purged(1, 0, told: false))
        await bucket.waitForPictures(0)
        #expect(!isShared(try await servers[2].ask(target())))
    }
}

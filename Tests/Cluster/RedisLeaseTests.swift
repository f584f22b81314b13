import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import NIOCore
import Testing

/// Leases with a real Redis between the nodes: its own time, and what becomes of them when it goes.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisLeaseTests {
    private final class RedisNode: Sendable {
        let store: RedisLeaseStore
        let texts: TextNode
        let messages = Recorder<String>()

        init(_ server: RedisServer, timeout: Duration = .seconds(600)) {
            let messages = messages
            store = RedisLeaseStore(
                .patient(server, timeout: timeout), prefix: "test",
                onMessage: { messages.record(String(buffer: $1.content)) })
            texts = TextNode(store, lease: .seconds(600), time: .system)
        }
    }

    private let server: RedisServer

    init() async throws { server = try await RedisServer.start() }

    @Test func aLeaseEndsByItself() async throws {
        let (one, two) = (RedisNode(server), RedisNode(server))
        let acquired = try await one.store.acquire(
            "a", token: "gone", for: .milliseconds(300), after: 0
        ).value
        guard case .acquired = acquired else { throw EngineError("\(acquired)") }
        #expect(await two.texts.text { "two" } == "two")
        // A machine that is busy may get there after the lease.
        #expect(two.texts.events.events.filter { $0 != .waited }.first == .acquired)
    }

    @Test func aServerThatFallsSilentMeanwhileKeepsNobodyWaiting() async throws {
        let (one, two) = (RedisNode(server), RedisNode(server, timeout: .seconds(3)))
        _ = await two.texts.text("warm") { "warm" }
        let first = await one.texts.begin("one")
        let second = Task { await two.texts.text { "two" } }
        await two.texts.waitFor(.waited)
        server.freeze()
        #expect(await second.value == "two")
        server.thaw()
        #expect(await first.finish() == "one")
    }

    @Test func aNodeLearnsWhatWasForgottenBeforeItWasThere() async throws {
        let one = RedisNode(server)
        for number in 0..<1200 {
            try await one.store.forget(["a"], telling: ByteBuffer(string: "\(number)"))
        }
        let expected = (0..<1200).map { "\($0)" }
        #expect(await one.messages.waitFor(count: 1200) == expected)
        let two = RedisNode(server)
        #expect(await two.messages.waitFor(count: 1200) == expected)
    }
}

extension RedisSettings {
    /// For a busy machine; tests of limits set their own.
    static func patient(_ server: RedisServer, timeout: Duration = .seconds(600)) -> RedisSettings {
        var settings = RedisSettings(address: .unix(path: server.path))
        settings.timeout = timeout
        settings.breaker.pause = .milliseconds(20)
        settings.breaker.longestPause = .milliseconds(100)
        return settings
    }
}

extension LeaseStore {
    func waitForNews() async {
        let news = news(of: "nothing")
        defer { news.end() }
        // All who wait are woken when it begins.
        if !hearsNews { await news.arrival.value }
    }
}

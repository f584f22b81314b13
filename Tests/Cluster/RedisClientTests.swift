import Foundation
import HalcyonCluster
import HalcyonTestKit
import HalcyonWork
import NIOCore
import Testing

/// The client for Redis against a real server that is there, away, silent or unwilling.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct RedisClientTests {
    private let server: RedisServer

    init() async throws { server = try await RedisServer.start() }

    private var settings: RedisSettings { .patient(server, timeout: .seconds(30)) }

    @Test func commandsOfManyCallersShareAConnection() async throws {
        let client = RedisClient(settings)
        let replies = await withTaskGroup(of: (Int, String?).self) { group in
            for number in 0..<500 {
                group.addTask {
                    let replies = try? await client.send([
                        ["SET", "key\(number)", "value\(number)"], ["GET", "key\(number)"],
                    ])
                    return (number, replies?.last?.text)
                }
            }
            return await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        #expect(replies.count == 500)
        #expect(replies.allSatisfy { $1 == "value\($0)" })
        let info = try await client.send([["INFO", "clients"]])[0].text ?? ""
        #expect(info.contains("connected_clients:1\r\n"))
    }

    @Test func aConnectionThatWasOpenedBeforehandIsUsed() async throws {
        let client = RedisClient(settings)
        client.connect()
        client.connect()
        let info = try await client.send([["INFO", "clients"]])[0].text ?? ""
        #expect(info.contains("connected_clients:1\r\n"))
    }

    @Test func bytesOfAnyKindComeBackAsTheyWere() async throws {
        let client = RedisClient(settings)
        let content = ByteBuffer(bytes: (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        var command: RESPCommand = ["SET", "a"]
        command.arguments.append(content)
        #expect(
            try await client.send([command, ["GET", "a"]]) == [.status("OK"), .bytes(content)])
        #expect(try await client.send([["GET", "b"]]) == [.null])
    }

    @Test func aPasswordAndADatabaseAreSaidFirst() async throws {
        let server = try await RedisServer.start(password: "s3cret")
        var settings = RedisSettings.patient(server, timeout: .seconds(30))
        for password in [nil, "wrong"] {
            settings.password = password
            await #expect(throws: RedisError.self) {
                try await RedisClient(settings).send([["GET", "a"]])
            }
        }
        settings.password = "s3cret"
        settings.database = 3
        let client = RedisClient(settings)
        _ = try await client.send([["SET", "a", "1"]])
        settings.database = 0
        settings.user = "default"
        let other = RedisClient(settings)
        #expect(try await other.send([["GET", "a"]]) == [.null])
        #expect(try await other.send([["SELECT", "3"], ["GET", "a"]]).last?.text == "1")
    }

    @Test func whatTheServerRefusesIsToldInItsWords() async throws {
        let client = RedisClient(settings)
        let error = await #expect(throws: RedisError.self) {
            try await client.send([["SET", "a", "1"], ["INCRBY", "a", "x"]])
        }
        guard case .refused(let text) = error else { throw error ?? .timedOut }
        #expect(text.hasPrefix("ERR"))
        #expect(try await client.send([["GET", "a"]])[0].text == "1")
    }

    @Test func aServerThatStartsAgainIsFoundAgain() async throws {
        let clock = ManualClock()
        let client = RedisClient(settings, time: clock.time)
        _ = try await client.send([["SET", "a", "1"]])
        await server.kill()
        for _ in 0..<20 {
            await #expect(throws: RedisError.self) { try await client.send([["GET", "a"]]) }
        }
        #expect(client.breakerState == .open)
        try await server.start()
        await #expect(throws: RedisError.paused) { try await client.send([["GET", "a"]]) }
        clock.advance(by: client.settings.breaker.pause)
        #expect(try await client.send([["GET", "a"]]) == [.null])
        #expect(client.breakerState == .closed)
    }

    @Test func aServerThatIsSilentCostsItsTimeLimitAndThenNothing() async throws {
        var settings = settings
        settings.timeout = .milliseconds(50)
        settings.breaker.failures = 3
        settings.breaker.pause = .seconds(60)
        settings.breaker.longestPause = .seconds(60)
        let client = RedisClient(settings)
        server.freeze()
        var errors: [RedisError] = []
        for _ in 0..<5 {
            do throws(RedisError) {
                _ = try await client.send([["GET", "a"]])
            } catch {
                errors.append(error)
            }
        }
        #expect(errors == [.timedOut, .timedOut, .timedOut, .paused, .paused])
        server.thaw()
    }

    @Test func anAnswerThatIsLateIsNobodyElses() async throws {
        var settings = settings
        settings.breaker.failures = 1000
        let patient = RedisClient(settings)
        _ = try await patient.send([["SET", "a", "A"], ["SET", "b", "B"]])
        settings.timeout = .milliseconds(100)
        let client = RedisClient(settings)
        while (try? await client.send([["PING"]])) == nil {}
        server.freeze()
        await #expect(throws: RedisError.timedOut) { try await client.send([["GET", "a"]]) }
        server.thaw()
        while true {
            guard let replies = try? await client.send([["GET", "b"]]) else { continue }
            #expect(replies == [.bytes(ByteBuffer(string: "B"))])
            break
        }
    }

    @Test func subscribersHearWhatIsPublishedAlsoAfterARestart() async throws {
        let heard = Recorder<String>()
        let connections = Recorder<Void>()
        let subscription = RedisSubscription(
            settings, channels: ["one", "two"], onConnection: { connections.record(()) },
            onMessage: { heard.record("\($0) \(String(buffer: $1))") })
        await connections.waitFor(count: 1)
        #expect(subscription.isConnected.value)
        let client = RedisClient(settings)
        _ = try await client.send([["PUBLISH", "one", "a"], ["PUBLISH", "two", "b"]])
        #expect(await heard.waitFor(count: 2) == ["one a", "two b"])
        await server.kill()
        await subscription.isConnected.wait { !$0 }
        try await server.start()
        await connections.waitFor(count: 2)
        let other = RedisClient(settings)
        _ = try await other.send([["PUBLISH", "one", "c"], ["PUBLISH", "three", "d"]])
        #expect(await heard.waitFor(count: 3).last == "one c")
    }
}

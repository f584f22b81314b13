import Foundation
import HalcyonHTTP
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Testing

/// Which generation of a source several servers answer with, while sources change.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
struct GenerationTests {
    /// A source whose picture has the number of its generation for a colour.
    private struct Source: Sendable {
        let path: String
        let generation = Locked(1)

        static func response(_ generation: Int) -> OriginResponse {
            let colour = Pixel(
                UInt8(generation >> 16 & 255), UInt8(generation >> 8 & 255), UInt8(generation & 255)
            )
            return .png(PNGFixture.solid(colour, width: 4, height: 4))
                .with(.entityTag("\"\(generation)\""))
        }
    }

    private let (origin, redis): (OriginServer, RedisServer)

    init() async throws {
        origin = try await OriginServer.start()
        redis = try await RedisServer.start()
    }

    private func generation(_ path: String, at server: LiveServer) async throws -> Int {
        let answer = try await server.ask(origin.target(path, "w:2") + "@png")
        return try color(answer).reduce(0) { $0 << 8 | Int($1) }
    }

    @Test func whatWasPurgedNoServerGoesBackTo() async throws {
        let count = 300
        let sources = (0..<20).map { Source(path: "/\($0).png") }
        for source in sources {
            let generation = source.generation
            origin.route(source.path) { _ in Source.response(generation.value) }
        }
        let servers = try await LiveServer.several(3, origin, redis)
        // The latest generation that each server has answered with.
        let seen = sources.map { _ in Locked(servers.map { _ in 0 }) }
        let isOver = Locked(false)
        let backwards = Recorder<String>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<6 {
                group.addTask {
                    var generator = SeededGenerator(state: UInt64(client) + 1)
                    while !isOver.value {
                        let place = Int.random(in: 0..<sources.count, using: &generator)
                        let server = Int.random(in: 0..<servers.count, using: &generator)
                        let before = seen[place].value[server]
                        let generation = try await generation(
                            sources[place].path, at: servers[server])
                        if generation < before {
                            backwards.record("\(place) at \(server): \(before), \(generation)")
                        }
                        seen[place].withLock { $0[server] = max($0[server], generation) }
                    }
                }
            }
            var generator = SeededGenerator(state: 99)
            var ordered = servers.map { _ in 0 }
            for _ in 0..<count {
                let place = Int.random(in: 0..<sources.count, using: &generator)
                let server = Int.random(in: 0..<servers.count, using: &generator)
                sources[place].generation.withLock { $0 += 1 }
                let url = origin.url(sources[place].path).absoluteString
                #expect(try await servers[server].forget(source: url))
                ordered[server] += 1
            }
            // All get there in the end.
            for (server, own) in zip(servers, ordered) {
                await server.server.stores.sources.purges.heard.wait { $0 >= count - own }
                for source in sources {
                    let generation = try await generation(source.path, at: server)
                    #expect(generation == source.generation.value, "\(source.path)")
                }
            }
            isOver.set(true)
            try await group.waitForAll()
        }
        #expect(backwards.events.isEmpty, "\(backwards.events.prefix(5))")
    }

    @Test func ofTwoGenerationsAtOnceNoServerGoesBackToTheOlder() async throws {
        // Every other request is answered by a cache on the way that has an old picture.
        let requests = Locked(0)
        origin.route("/a.png") { _ in
            let number = requests.withLock {
                $0 += 1
                return $0
            }
            let isOld = number % 2 == 0
            let date = Date(timeIntervalSinceNow: isOld ? -1000 : 0)
            let response = Source.response(isOld ? 1 : 2).header("Date", HTTPDate.text(date))
                .cacheControl("max-age=0")
            return isOld ? response.header("Age", "1000") : response
        }
        let servers = try await LiveServer.several(4, origin, redis) {
            $0.http.passesCacheControl = true
            $0.cache.staleWhileRevalidate = .zero
        }
        let backwards = Recorder<String>()
        let generations = Recorder<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, server) in servers.enumerated() {
                group.addTask {
                    var seen = 0
                    for _ in 0..<50 {
                        let generation = try await generation("/a.png", at: server)
                        if generation < seen { backwards.record("\(number): \(generation)") }
                        seen = max(seen, generation)
                        generations.record(generation)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(backwards.events.isEmpty, "\(backwards.events.prefix(5))")
        #expect(generations.events.contains(2))
    }
}

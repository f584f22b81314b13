import Foundation
import Halcyon
import HalcyonHTTP
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
import Testing

/// Which generation of a source several servers answer with, while sources change.
///
/// `HALCYON_PURGES` is how many purges there are; with it, each has to have reached all servers after a second.
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

    /// The generation of the picture that a server answers with.
    private func generation(_ path: String, at server: LiveServer) async throws -> Int {
        let answer = try await server.ask(origin.target(path, "w:2") + "@png")
        return try color(answer).reduce(0) { $0 << 8 | Int($1) }
    }

    /// What one source was answered with, by each server.
    private final class Watch: Sendable {
        private struct State {
            /// The latest generation that a server has answered with.
            var seen: [Int: Int] = [:]
            /// From when on all answer with which generation or a later one.
            var purges: [(generation: Int, end: ContinuousClock.Instant)] = []
        }

        private let state = Locked(State())

        /// What a request that begins now may at least be answered with.
        func begin(_ server: Int) -> (seen: Int, at: ContinuousClock.Instant) {
            (state.withLock { $0.seen[server] ?? 0 }, .now)
        }

        func purged(_ generation: Int) { state.withLock { $0.purges.append((generation, .now)) } }

        /// How long after a purge it was answered with something older; `nil` when it was not.
        func end(
            _ begun: (seen: Int, at: ContinuousClock.Instant), _ server: Int, _ generation: Int
        ) -> Duration? {
            state.withLock { state in
                state.seen[server] = max(state.seen[server] ?? 0, generation)
                return state.purges.filter { $0.generation > generation && $0.end < begun.at }
                    .map { begun.at - $0.end }.max()
            }
        }
    }

    @Test func whatWasPurgedNoServerGoesBackTo() async throws {
        let wished = ProcessInfo.processInfo.environment["HALCYON_PURGES"].flatMap { Int($0) }
        let count = wished ?? 300
        let sources = (0..<20).map { Source(path: "/\($0).png") }
        for source in sources {
            let generation = source.generation
            origin.route(source.path) { _ in Source.response(generation.value) }
        }
        let servers = try await LiveServer.several(3, origin, redis)
        let watches = sources.map { _ in Watch() }
        let isOver = Locked(false)
        let backwards = Recorder<String>()
        let late = Locked(Duration.zero)
        let answered = Locked(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<6 {
                group.addTask {
                    var generator = SeededGenerator(state: UInt64(client) + 1)
                    while !isOver.value {
                        let place = Int.random(in: 0..<sources.count, using: &generator)
                        let server = Int.random(in: 0..<servers.count, using: &generator)
                        let begun = watches[place].begin(server)
                        let generation = try await generation(
                            sources[place].path, at: servers[server])
                        if generation < begun.seen {
                            backwards.record("\(place) at \(server): \(begun.seen), \(generation)")
                        }
                        if let time = watches[place].end(begun, server, generation) {
                            late.withLock { $0 = max($0, time) }
                        }
                        answered.withLock { $0 += 1 }
                    }
                }
            }
            var generator = SeededGenerator(state: 99)
            var ordered = servers.map { _ in 0 }
            for _ in 0..<count {
                let place = Int.random(in: 0..<sources.count, using: &generator)
                let server = Int.random(in: 0..<servers.count, using: &generator)
                let generation = sources[place].generation.withLock {
                    $0 += 1
                    return $0
                }
                let url = origin.url(sources[place].path).absoluteString
                #expect(try await servers[server].server.forget(source: url))
                watches[place].purged(generation)
                ordered[server] += 1
            }
            // All get there in the end.
            for (server, own) in zip(servers, ordered) {
                await server.server.purges.until(heard: count - own)
                for source in sources {
                    let generation = try await generation(source.path, at: server)
                    #expect(generation == source.generation.value, "\(source.path)")
                }
            }
            isOver.set(true)
            try await group.waitForAll()
        }
        print(
            "\(count) purges, \(answered.value) answers under load,",
            "an older one at most \(late.value) after a purge")
        #expect(backwards.events.isEmpty, "\(backwards.events.prefix(5))")
        if wished != nil { #expect(late.value < .seconds(1)) }
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
        print("\(requests.value) requests to a flapping origin, \(generations.count) answers")
    }
}

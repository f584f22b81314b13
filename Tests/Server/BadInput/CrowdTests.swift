import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonServer

/// More clients than there are places.
@Suite struct CrowdTests {
    @Test func idleConnectionsDoNotHideTheServerFromItsOperators() async throws {
        let live = try await LiveServer.start {
            $0.work.maxConnections = 20
            $0.work.idleTimeout = .milliseconds(500)
        }
        var clients: [RawClient] = []
        for count in 1...200 {
            clients.append(try RawClient(port: live.port))
            guard count.isMultiple(of: 20) else { continue }
            #expect(try await live.ask("/ready", operations: true).status == 200)
        }
        // The last group of four may have begun with one place left.
        #expect(try await (1...23).contains(live.metric("halcyon_connections ")))
        // They are ended for being idle, and whoever has waited behind them gets an answer.
        #expect(try await live.ask(.china("w:10")).status == 200)
        clients = []
        try await live.expectCalm(warnings: 0)
    }

    /// As many as a process may have files, or some fewer: each takes two here.
    @Test func twoThousandConnectionsDoNotHideTheServerFromItsOperators() async throws {
        let live = try await LiveServer.start {
            $0.work.maxConnections = 1500
            $0.work.idleTimeout = .seconds(60)
        }
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let most = min(2000, Int(clamping: limit.rlim_cur) / 4)
        var clients: [RawClient] = []
        for count in 1...most {
            clients.append(try RawClient(port: live.port))
            guard count.isMultiple(of: 250) else { continue }
            #expect(try await live.ask("/ready", operations: true).status == 200)
        }
        #expect(try await (1...1503).contains(live.metric("halcyon_connections ")))
        // All at once want something, and leave.
        for client in clients { client.get("/live") }
        #expect(try await live.ask("/ready", operations: true).status == 200)
        clients = []
        #expect(try await live.ask(.china("w:10")).status == 200)
        try await live.expectCalm(warnings: 0)
    }

    @Test func manyRequestsAtOnceAreAnsweredOrRefusedAtOnce() async throws {
        let live = try await LiveServer.start {
            $0.work.decoders = 1
            $0.work.queue = 4
        }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for width in 1...100 {
                group.addTask {
                    try await live.ask(.china("w:\(width)")).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(statuses).isSubset(of: [200, 429]))
        #expect(statuses.count { $0 == 200 } >= 5)
        try await live.expectCalm(warnings: 100)
    }
    @Test func nothingIsLeftOfACrowdThatLeaves() async throws {
        let live = try await LiveServer.start { $0.work.queue = 100 }
        let gate = live.server.makers.gate
        var clients = try (0..<50).map { _ in try RawClient(port: live.port) }
        for (index, client) in clients.enumerated() {
            // 12 million pixels each.
            client.get("/_/rs:force:\(4000 + index):3000:1/bl:40/plain/local:///chelsea.png")
        }
        let count = clients.count
        await gate.until { $0.entered >= count }
        clients = []
        await gate.until { $0.passing + $0.waiting == 0 }
        try await live.expectCalm(warnings: 0)
        let left = await live.log.wait { $0.count { $0.message == "request" } == 50 }
            .count { $0["status"] == "499" }
        #expect(left > 0 && live.server.metrics.pictures.total < 50)
        #expect(try await live.ask(.china("w:10")).status == 200)
    }
}

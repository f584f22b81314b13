import Foundation
import HalcyonTestKit
import Testing

@testable import HalcyonServer

/// More clients than there are places.
@Suite struct CrowdTests {
    /// As many as a process may have files, or some fewer: each takes two here.
    @Test(arguments: [(20, 200), (1500, 2000)])
    func idleConnectionsDoNotHideTheServerFromItsOperators(most: Int, count: Int) async throws {
        let live = try await LiveServer.start {
            $0.work.maxConnections = most
            $0.work.idleTimeout = .seconds(600)
        }
        var clients: [RawClient] = []
        for number in 1...min(count, LiveServer.descriptors / 4) {
            clients.append(try RawClient(port: live.port))
            guard number.isMultiple(of: count / 10) else { continue }
            #expect(try await live.ask("/ready", operations: true).status == 200)
        }
        // The last group of four may have begun with one place left.
        #expect(try await (1...most + 3).contains(live.metric("halcyon_connections ")))
        if count > 1000 {
            // All at once want something.
            for client in clients { client.get("/live") }
            #expect(try await live.ask("/ready", operations: true).status == 200)
        }
        // They leave, and whoever has waited behind them gets an answer.
        clients = []
        #expect(try await live.ask(.china("w:10")).status == 200)
        try await live.expectCalm(warnings: 0)
    }

    @Test func nothingIsLeftOfACrowdThatLeaves() async throws {
        let live = try await LiveServer.start { $0.work.queue = 100 }
        let gate = live.server.gates.decoders
        var clients = try (0..<50).map { _ in try RawClient(port: live.port) }
        for (index, client) in clients.enumerated() {
            // 12 million pixels each.
            client.get("/_/rs:force:\(4000 + index):3000:1/bl:40/plain/local:///chelsea.png")
        }
        let count = clients.count
        await gate.wait { $0.entered >= count }
        clients = []
        await gate.wait { $0.passing + $0.waiting == 0 }
        try await live.expectCalm(warnings: 0)
        let left = await live.loggedRequests(50).count { $0["status"] == "499" }
        #expect(left > 0 && live.server.metrics.pictures.total < 50)
        #expect(try await live.ask(.china("w:10")).status == 200)
    }
}

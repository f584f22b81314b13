import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import HalcyonPixels
@testable import HalcyonServer

/// Requests for pictures that there is no memory for. Each in a process of its own, whose pictures all wait.
@Suite struct MemoryWaitTests {
    private static let memory = 64 << 20

    /// A server with so much memory, all of which is taken, and a picture that needs some of it beside one that
    /// does not.
    private static func start(
        in folder: TemporaryDirectory, time: TimeSource = .system
    ) async throws -> LiveServer {
        try folder.write(
            PNGFixture.data(.gradient(width: 1600, height: 1000), as: .rgba16), to: "large.png")
        try folder.write(
            PNGFixture.data(.gradient(width: 20, height: 10), as: .rgb8), to: "small.png")
        let live = try await LiveServer.start(time: time) {
            $0.sources.local.root = folder.url.path
            $0.work.memory = memory
            $0.work.requestTimeout = .seconds(600)
        }
        try #require(DecodingBudget.shared.takeIfFree(memory))
        return live
    }

    @Test func whoseTimeEndsWhileThereIsNoMemoryIsToldSoAndHoldsNoThread() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryDirectory()
            let clock = ManualClock()
            let live = try await MemoryWaitTests.start(in: folder, time: clock.time)
            // As many as there are threads.
            let targets = (1...Processors.count).map { "/_/bl:\($0)/plain/local:///large.png" }
            try await withThrowingTaskGroup(of: LiveServer.Answer.self) { group in
                for target in targets { group.addTask { try await live.told(target) } }
                await DecodingBudget.shared.until(waiters: targets.count)
                clock.advance(by: live.server.configuration.work.requestTimeout)
                for try await answer in group {
                    #expect(answer.status == 503 && answer.code == "deadline")
                    #expect(answer["Retry-After"] != nil)
                }
            }
            await live.server.gates.decoders.wait { $0.passing == 0 }
            #expect(DecodingBudget.shared.waitingCount == 0)
            let metrics = try await live.ask("/metrics", operations: true).text
            let line = "halcyon_rejected_total{reason=\"memory\"} \(targets.count)\n"
            #expect(metrics.contains(line), "\(metrics)")
            #expect(!metrics.contains("halcyon_rejected_total{reason=\"deadline\"}"))
            #expect(try await live.ask("/_/bl:2/plain/local:///small.png").status == 200)
            DecodingBudget.shared.giveBack(MemoryWaitTests.memory)
            #expect(try await live.ask("/_/bl:2/plain/local:///large.png").status == 200)
            try await live.expectCalm(warnings: targets.count)
            ProgramEnd.skipsDestruction()
        }
    }

    @Test func whoLeavesWhileThereIsNoMemoryHoldsNoThread() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryDirectory()
            let live = try await MemoryWaitTests.start(in: folder)
            var clients = try (0..<Processors.count).map { _ in try RawClient(port: live.port) }
            for (number, client) in clients.enumerated() {
                client.get("/_/bl:\(1 + number)/plain/local:///large.png")
            }
            await DecodingBudget.shared.until(waiters: clients.count)
            let count = clients.count
            clients = []
            await live.server.gates.decoders.wait { $0.passing == 0 }
            #expect(DecodingBudget.shared.waitingCount == 0)
            await live.waitForClientsThatLeave(count)
            #expect(try await live.ask("/_/bl:2/plain/local:///small.png").status == 200)
            let metrics = try await live.ask("/metrics", operations: true).text
            #expect(!metrics.contains("halcyon_rejected_total{"))
            DecodingBudget.shared.giveBack(MemoryWaitTests.memory)
            try await live.expectCalm(warnings: 0)
            ProgramEnd.skipsDestruction()
        }
    }
}

import Dispatch
import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// Clients that send on while an answer is being made: further requests, or a body that nobody reads.
@Suite struct PipelineTests {
    private let origin: OriginServer
    private let gate: Gate
    private let target: String

    /// The answers for `target` wait until the gate opens.
    init() async throws {
        (origin, gate) = try await OriginServer.gated()
        target = origin.target()
    }

    private func start(_ change: LiveServer.Change) async throws -> LiveServer {
        try await LiveServer.start(origin) {
            $0.work.idleTimeout = .seconds(600)
            try change(&$0)
        }
    }

    /// A client whose request for `target` the origin has got.
    private func client(_ live: LiveServer, _ fields: String = "") async throws -> RawClient {
        let client = try RawClient(port: live.port)
        client.send(request(target, fields))
        await origin.waitForRequests(1)
        return client
    }

    private func request(_ target: String, _ fields: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
    }

    /// Waits until the heads of requests have taken too long that were begun after all others; some at once,
    /// as connections are spread over threads that know nothing of each other's time.
    private func waitForSlowHeads(_ live: LiveServer) async throws {
        for _ in 0..<2 {
            let others = try (0..<8).map { _ in try RawClient(port: live.port) }
            for other in others { other.send("G") }
            for other in others { #expect(await other.read().bytes.isEmpty) }
        }
    }

    @Test(arguments: ["", " HTTP/1.1\r\nHost: localhost\r\n\r\n"])
    func aSlowHeadDoesNotCostTheAnswerThatIsBeingMade(late: String) async throws {
        let live = try await start { $0.work.headTimeout = .milliseconds(200) }
        let client = try await client(live)
        client.send("GET /live")
        try await waitForSlowHeads(live)
        // The rest of it comes too late.
        if !late.isEmpty { client.send(late) }
        gate.open()
        let (bytes, error) = await client.read()
        #expect(error == 0)
        let answers = WireAnswer.all(in: bytes)
        #expect(answers.map(\.status) == [200] && answers[0].isLast)
    }

    @Test func allRequestsBeforeASlowHeadAreAnswered() async throws {
        let live = try await start { $0.work.headTimeout = .milliseconds(200) }
        let client = try await client(live)
        client.send(request("/live") + request("/health"))
        // By then they have come.
        try await waitForSlowHeads(live)
        client.send("GET /live")
        try await waitForSlowHeads(live)
        gate.open()
        let (bytes, error) = await client.read()
        #expect(error == 0)
        #expect(WireAnswer.all(in: bytes).map(\.isLast) == [false, false, true])
    }

    @Test func requestsThatWaitForTheirTurnAreNotSlow() async throws {
        let live = try await start { $0.work.headTimeout = .seconds(1) }
        let client = try await client(live)
        // More than is read before its turn, and the last of what is read may end in any place.
        let field = "X-Field: \(String(repeating: "a", count: 3000))\r\n"
        let sender = DispatchQueue(label: "sender")
        sender.async { [self] in
            client.send(String(repeating: request("/live", field), count: 500))
            client.finishSending()
        }
        try await waitForSlowHeads(live)
        gate.open()
        let (bytes, _) = await client.read()
        #expect(WireAnswer.all(in: bytes).count == 501)
    }

    @Test func aRequestIsAnsweredAlthoughTheNextOneHasNotEnded() async throws {
        let live = try await start { $0.work.headTimeout = .milliseconds(200) }
        let client = try await client(live)
        client.send(request("/live", "Content-Length: 3\r\n") + "ab")
        // By then it has come.
        try await waitForSlowHeads(live)
        gate.open()
        let answers = WireAnswer.all(in: await client.read().bytes)
        #expect(answers.map(\.isLast) == [false, true])
    }

    @Test(arguments: [0, 100, 4 << 20])
    func aBodyThatNobodyReadsDoesNotCostTheAnswer(sent: Int) async throws {
        let live = try await start { $0.work.idleTimeout = .seconds(1) }
        let client = try RawClient(port: live.port)
        client.send(request(target, "Content-Length: \(max(sent, 200))\r\n"))
        let sender = DispatchQueue(label: "sender")
        sender.async { client.send(String(repeating: "a", count: sent)) }
        await origin.waitForRequests(1)
        try await live.waitForIdleEnds()
        gate.open()
        let (bytes, error) = await client.read()
        #expect(error == 0)
        #expect(WireAnswer.all(in: bytes).map(\.status) == [200])
        await withCheckedContinuation { done in sender.async { done.resume() } }
    }

    @Test func aBodyThatIsWantedAndDoesNotComeEndsTheConnection() async throws {
        let live = try await start { $0.work.idleTimeout = .milliseconds(500) }
        let client = try RawClient(port: try #require(live.listening.operationsPort))
        client.send("POST /purge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 30\r\n\r\n{")
        let (bytes, _) = await client.read()
        #expect(!bytes.starts(with: "HTTP/1.1 200".utf8))
    }
}

import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonTestKit
import Testing

@Suite struct WholeAnswerTests {
    private let origin: OriginServer
    private let transport: CurlTransport

    init() async throws {
        origin = try await OriginServer.start()
        origin.route(
            "/ten", .ok(Data("0123456789".utf8), contentType: "text/plain").with(.chunked))
        var configuration = HTTPClientConfiguration()
        configuration.connectTimeout = 600
        configuration.connectionsPerHost = 1
        transport = try CurlTransport.shared(for: configuration)
    }

    private func answer(
        _ path: String = "/ten", limit: Int? = nil
    ) async throws -> (head: AnswerHead, body: Data) {
        try await transport.answer(
            to: URLRequest(url: origin.url(path)), terms: ExchangeTerms(stall: .seconds(600)),
            limit: limit)
    }

    @Test(arguments: [nil, 10, 11])
    func aBodyWithinTheLimitIsWhole(limit: Int?) async throws {
        let (head, body) = try await answer(limit: limit)
        #expect(head.status == 200 && head.value("content-type") == "text/plain")
        #expect(body == Data("0123456789".utf8))
    }

    @Test(arguments: [0, 9])
    func aBodyAboveTheLimitIsNotTaken(limit: Int) async throws {
        let url = origin.url("/ten").absoluteString
        await #expect(throws: TransportError.responseTooLarge(url: url, limit: limit)) {
            try await answer(limit: limit)
        }
    }

    /// The time in libcurl's own queue would count as time to connect.
    @Test func waitingForATurnIsNotConnecting() async throws {
        let gate = Gate()
        origin.route("/held", .ok(Data("held".utf8)).with(.wait(.gate(gate))))
        let first = Task { try await answer("/held").body }
        await origin.waitForRequests(1)
        // Runs until it is in line, where libcurl does not know it.
        let second = Task.immediate { try await answer().body }
        #expect(transport.waitingRequestCount == 1)
        gate.open()
        #expect(try await first.value == Data("held".utf8))
        #expect(try await second.value == Data("0123456789".utf8))
        #expect(origin.connectionCount == 1)
    }
}

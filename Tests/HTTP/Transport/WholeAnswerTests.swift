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
        transport = try CurlTransport.shared(for: HTTPClientConfiguration())
    }

    private func answer(limit: Int?) async throws -> (head: AnswerHead, body: Data) {
        try await transport.answer(
            to: URLRequest(url: origin.url("/ten")), terms: ExchangeTerms(stall: .seconds(600)),
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
}

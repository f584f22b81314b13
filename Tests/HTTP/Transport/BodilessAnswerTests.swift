import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonTestKit
import Testing

/// Answers that have no body, whatever their fields say of one (RFC 9112, section 6.3).
@Suite struct BodilessAnswerTests {
    private static let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"

    private let transport: CurlTransport

    init() throws {
        var configuration = HTTPClientConfiguration()
        configuration.connectionsPerHost = 1
        configuration.additionalTrustRoots = [OriginServer.certificatePEM]
        transport = try CurlTransport.shared(for: configuration)
    }

    private func answer(
        _ url: URL, method: String = "GET"
    ) async throws -> (status: Int, body: String) {
        var request = URLRequest(url: url)
        request.httpMethod = method
        let (head, body) = try await transport.answer(
            to: request, terms: ExchangeTerms(stall: .seconds(600)))
        return (head.status, String(decoding: body, as: UTF8.self))
    }

    @Test(arguments: [
        ("GET", "304 Not Modified\r\nContent-Length: 5"),
        ("GET", "304 Not Modified\r\nContent-Length: 100000\r\nETag: \"a\""),
        ("GET", "304 Not Modified\r\nContent-Length: 5\r\nContent-Length: 6"),
        ("GET", "304 Not Modified\r\nContent-Length: many"),
        ("GET", "304 Not Modified\r\nTransfer-Encoding: chunked"),
        ("GET", "304 Not Modified\r\nContent-Encoding: gzip\r\nContent-Length: 5"),
        ("GET", "304 Not Modified\r\nContent-Encoding: unheard-of\r\nContent-Length: 5"),
        ("GET", "204 No Content\r\nContent-Length: 5"),
        ("GET", "204 No Content\r\nContent-Length: 100000\r\nContent-Encoding: br"),
        ("HEAD", "200 OK\r\nContent-Length: 100000"),
        ("HEAD", "404 Not Found\r\nContent-Length: 7"),
        ("HEAD", "200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip"),
    ])
    func anAnswerWithoutABodyIsWholeAndItsConnectionGoesOn(
        method: String, head: String
    ) async throws {
        let server = try await RawServer.start(
            answers: ["HTTP/1.1 \(head)\r\n\r\n", Self.whole])
        let first = try await answer(server.url("/a"), method: method)
        #expect(first.status == Int(head.prefix(3)) && first.body.isEmpty)
        let second = try await answer(server.url("/b"))
        #expect(second.status == 200 && second.body == "whole")
        #expect(server.connectionCount == 1)
    }

    @Test func lengthsOfInterimAnswersMeanNothing() async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\nContent-Encoding: br\r\n\r\n"
        let server = try await RawServer.start(answers: [
            "HTTP/1.1 102 Processing\r\nTransfer-Encoding: chunked\r\n\r\n" + hints + Self.whole,
            hints + "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            Self.whole,
        ])
        #expect(try await answer(server.url("/a")).body == "whole")
        #expect(try await answer(server.url("/b")).status == 304)
        #expect(try await answer(server.url("/c")).body == "whole")
        #expect(server.connectionCount == 1)
    }

    @Test func aDiscardedAnswerWithoutABodyLeavesItsConnectionToOthers() async throws {
        let server = try await RawServer.start(answers: [
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 100000\r\n\r\n", Self.whole,
        ])
        _ = try await transport.perform(
            URLRequest(url: server.url("/a")), terms: ExchangeTerms(stall: .seconds(600)),
            onResponse: { _ in .discard }, onBody: { _ in })
        #expect(try await answer(server.url("/b")).body == "whole")
        #expect(server.connectionCount == 1)
    }

    @Test func itIsTheSameInHTTP2() async throws {
        let origin = try await OriginServer.start(tls: true)
        origin.route("/304", OriginResponse(status: 304).with(.declaredLength(100_000)))
        origin.route(
            "/packed",
            OriginResponse(status: 304).with(.declaredLength(7)).header(
                "Content-Encoding", "gzip"))
        origin.route("/200", .ok(Data("whole".utf8)))
        for path in ["/304", "/packed"] {
            let first = try await answer(origin.url(path))
            #expect(first.status == 304 && first.body.isEmpty)
        }
        let head = try await answer(origin.url("/200"), method: "HEAD")
        #expect(head.status == 200 && head.body.isEmpty)
        #expect(try await answer(origin.url("/200")).body == "whole")
        #expect(origin.requests.allSatisfy { $0.httpVersion == "2" })
        #expect(origin.connectionCount == 1)
    }
}

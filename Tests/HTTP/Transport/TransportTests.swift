import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import HalcyonHTTP

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
        let server = try await RawServer.start(answers: ["HTTP/1.1 \(head)\r\n\r\n", Self.whole])
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

/// Bodies that are packed, rightly or not (RFC 9110, section 8.4).
@Suite struct ContentCodingTests {
    private static let text = String(repeating: "0123456789", count: 20_000)

    private let transport: CurlTransport
    private let origin: OriginServer

    init() async throws {
        origin = try await OriginServer.start()
        var configuration = HTTPClientConfiguration()
        configuration.maximumResponseSize = 1 << 20
        transport = try CurlTransport.shared(for: configuration)
    }

    private static func packed(_ bytes: Data, _ codings: [ContentEncoding]) -> Data {
        codings.reduce(bytes) { Data($1.packed(Array($0))) }
    }

    private func body(_ bytes: Data, _ field: String?, sliced: Int? = nil) async throws -> Data {
        var response = OriginResponse.ok(bytes)
        if let field { response = response.header("Content-Encoding", field) }
        if let sliced { response = response.with(.slices(bytes: sliced)) }
        origin.route("/x", response)
        return try await transport.answer(
            to: URLRequest(url: origin.url("/x")), terms: ExchangeTerms(stall: .seconds(600))
        ).body
    }

    @Test(
        arguments: [
            ("gzip", [.gzip]), ("x-gzip", [.gzip]), ("GZip", [.gzip]), ("deflate", [.deflate]),
            ("br", [.br]), ("zstd", [.zstd]), ("gzip, gzip", [.gzip, .gzip]),
            ("identity, gzip", [.gzip]), ("gzip, identity", [.gzip]), (" ,gzip,, ", [.gzip]),
            ("deflate, br, zstd, x-gzip", [.deflate, .br, .zstd, .gzip]),
            ("utf-8, gzip", [.gzip]), ("gzip, aws-chunked", [.gzip]),
        ] as [(String, [ContentEncoding])])
    func codingsAreUndoneInOrder(field: String, codings: [ContentEncoding]) async throws {
        let plain = Data(Self.text.utf8)
        let packed = Self.packed(plain, codings)
        #expect(try await body(packed, field) == plain)
        #expect(try await body(packed, field, sliced: 4099) == plain)
    }

    @Test(arguments: [
        "none", "utf-8", "binary", "aws-chunked", "base64", "", "identity", "compress",
    ])
    func othersAreTakenForNone(field: String) async throws {
        let plain = Data(Self.text.utf8)
        #expect(try await body(plain, field) == plain)
    }

    @Test func severalLinesAreOneList() {
        let head = AnswerHead(
            url: origin.baseURL, status: 200,
            fields: ["Content-Encoding": "deflate", "content-encoding": "x-gzip, odd"])
        #expect(head.codings.known == [.deflate, .gzip] && head.codings.unknown == ["odd"])
        #expect(HTTPFields(unpacked: head).values("Content-Encoding") == ["odd"])
        let none = AnswerHead(url: origin.baseURL, status: 304, fields: head.fields)
        #expect(none.codings.isEmpty)
    }

    @Test(arguments: ContentEncoding.allCases)
    func whatStandsBehindTheEndIsPassedOver(coding: ContentEncoding) async throws {
        let plain = Data("some text".utf8)
        for rest in ["\n", "garbage that is longer than a header", "\0\0\0\0\0\0\0\0\0\0"] {
            let bytes = Self.packed(plain, [coding]) + Data(rest.utf8)
            #expect(try await body(bytes, coding.rawValue) == plain)
        }
    }

    @Test(arguments: [ContentEncoding.gzip, .zstd])
    func partsFollowEachOther(coding: ContentEncoding) async throws {
        let (one, two) = (Data("one".utf8), Data(Self.text.utf8))
        let bytes = Self.packed(one, [coding]) + Self.packed(two, [coding])
        #expect(try await body(bytes, coding.rawValue) == one + two)
        #expect(try await body(bytes, coding.rawValue, sliced: 1000) == one + two)
    }

    /// Many servers send the bare stream.
    @Test func deflateMayBeWithoutItsFormat() async throws {
        let plain = Data(Self.text.utf8)
        let zlib = Self.packed(plain, [.deflate])
        #expect(try await body(zlib.dropFirst(2).dropLast(4), "deflate") == plain)
        #expect(try await body(zlib.dropFirst(2).dropLast(4), "deflate", sliced: 999) == plain)
    }

    @Test(arguments: ContentEncoding.allCases)
    func aBodyWithoutBytesIsEmpty(coding: ContentEncoding) async throws {
        #expect(try await body(Data(), coding.rawValue).isEmpty)
    }

    @Test(arguments: ContentEncoding.allCases)
    func aStreamThatEndsTooEarlyIsIncomplete(coding: ContentEncoding) async throws {
        let bytes = Self.packed(Data(Self.text.utf8), [coding]).dropLast(9)
        let url = origin.url("/x").absoluteString
        await #expect(
            throws: TransportError.incompleteBody(url: url, received: nil, expected: nil)
        ) { try await body(bytes, coding.rawValue) }
    }

    @Test(
        arguments: ContentEncoding.allCases.map(\.rawValue)
            + [Array(repeating: "gzip", count: 6).joined(separator: ", ")])
    func whatIsSomethingElseIsAnError(field: String) async throws {
        let error = await #expect(throws: TransportError.self) {
            try await body(Data(repeating: 0xFE, count: 5000), field)
        }
        guard case .undecodableBody = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func whatIsPackedStillIsLimitedToo() async throws {
        // 2 MB within; the innermost is ten bytes, with what comes behind it passed over.
        let inner = Self.packed(Data("0123456789".utf8), [.gzip]) + Data(count: 2 << 20)
        let bytes = Self.packed(inner, [.gzip])
        let url = origin.url("/x").absoluteString
        await #expect(throws: TransportError.responseTooLarge(url: url, limit: 1 << 20)) {
            try await body(bytes, "gzip, gzip")
        }
    }
}

@Suite struct WholeAnswerTests {
    private let origin: OriginServer
    private let transport: CurlTransport

    init() async throws {
        origin = try await OriginServer.start()
        origin.route("/ten", .ok(Data("0123456789".utf8), contentType: "text/plain").with(.chunked))
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

    @Test(arguments: [nil, 10, 11]) func aBodyWithinTheLimitIsWhole(limit: Int?) async throws {
        let (head, body) = try await answer(limit: limit)
        #expect(head.status == 200 && head.value("content-type") == "text/plain")
        #expect(body == Data("0123456789".utf8))
    }

    @Test(arguments: [0, 9]) func aBodyAboveTheLimitIsNotTaken(limit: Int) async throws {
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

/// Faults of the server that tests which use it would not notice: wrong counts, and misbehaviour that is none.
@Suite struct OriginServerTests {
    private let payload = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0) })
    private let server: OriginServer

    init() async throws { server = try await OriginServer.start() }

    @Test func countsRequestsAndConnectionsAtOneTime() async throws {
        let gate = Gate()
        for path in ["/0", "/1"] { server.route(path, .empty.with(.wait(.gate(gate)))) }
        do {
            let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
            for (index, client) in clients.enumerated() {
                client.send("GET /\(index % 2) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            }
            await server.waitForRequests(20)
            gate.open()
            for client in clients { #expect(await client.read().error == 0) }
        }
        await server.waitForConnections(atMost: 0)
        #expect(server.requestCount == 20 && server.requestCount(for: "/1") == 10)
        #expect(server.connectionCount == 20 && server.peakConnections == 20)
        #expect(server.peakConcurrentRequests == 20 && server.abandonedRequestCount == 0)
        let client = try RawClient(port: server.port)
        for number in 1...3 {
            client.send("GET /0 HTTP/1.1\r\nHost: x\r\n\r\n")
            await server.waitForRequests(20 + number)
            #expect(await client.read { $0.suffix(4) == Array("\r\n\r\n".utf8)[...] }.error == 0)
        }
        #expect(server.connectionCount == 21, "it is kept")
        #expect(server.peakConcurrentRequests == 20)
    }

    @Test(arguments: ContentEncoding.allCases)
    func encodesTheBody(encoding: ContentEncoding) async throws {
        server.route("/x", .ok(payload).with(.encoded(encoding)))
        let answer = try await RawClient(port: server.port).exchange(
            "/x", headers: ["Connection: close"])
        #expect(answer.head.contains("Content-Encoding: \(encoding.rawValue)"))
        #expect(answer.body == encoding.packed(Array(payload)) && Data(answer.body) != payload)
    }

    @Test(arguments: [(Abort.close, Int32(0)), (.reset, ECONNRESET)])
    func endsTheConnectionAsItIsTold(how: Abort, error: Int32) async throws {
        server.route("/none", .abort(how))
        server.route("/whole", .ok(payload).with(.breakOff(afterBytes: 1500, how)))
        server.route(
            "/slices", .ok(payload).with(.breakOff(afterBytes: 1500, how), .slices(bytes: 400)))
        let none = try await RawClient(port: server.port).exchange("/none")
        #expect(none.head.isEmpty && none.error == error)
        for path in ["/whole", "/slices"] {
            let answer = try await RawClient(port: server.port).exchange(path)
            #expect(answer.error == error && answer.head.contains("Content-Length: 200000"))
            #expect(Data(answer.body) == payload.prefix(1500))
        }
    }
}

import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import HalcyonHTTP

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
            fields: [("Content-Encoding", "deflate"), ("content-encoding", "x-gzip, odd")])
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

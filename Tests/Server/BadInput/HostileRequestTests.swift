import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Requests that no decent client sends.
@Suite struct HostileRequestTests {
    private static let picture = "/_/w:10/plain/local:///china.jpg"

    private static func head(_ line: String) -> [UInt8] {
        Array("\(line)\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    }

    private static let hello: [UInt8] = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3, 7, 7, 7, 7, 7, 7]

    /// 0 stands for a connection that ends without an answer.
    static let heads: [BadInput<[UInt8]>] = [
        .init("a star", head("GET * HTTP/1.1"), 400),
        // Which host it is for is not asked: every server takes such targets (RFC 9112, section 3.2.2).
        .init("a target of another host", head("GET http://example.com/ HTTP/1.1"), 400, 404),
        .init("the beginning of TLS", hello, 400, 0),
        .init("a NUL in the path", head("GET /_/plain/local:///a\0.jpg HTTP/1.1"), 400, 0),
        .init("a CR in the path", head("GET /_/plain/local:///a\rb.jpg HTTP/1.1"), 400, 0),
        .init("a LF in the path", head("GET /_/plain/local:///a\nb.jpg HTTP/1.1"), 400, 0),
        .init("a version of its own", head("GET \(picture) HTTP/9.9"), 400, 505, 0),
        .init(
            "two lengths",
            head("GET \(picture) HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2"), 400, 0),
        .init(
            "a length and chunks",
            head("POST \(picture) HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"),
            400, 405, 0),
        .init(
            "a field that goes on in the next line",
            head("GET /live HTTP/1.1\r\nX-A: b\r\n c"), 200, 400, 0),
        .init("a field without a name", head("GET /live HTTP/1.1\r\n: b"), 400, 0),
    ]

    @Test(arguments: heads) func aHeadThatIsNoneIsRefused(_ row: BadInput<[UInt8]>) async throws {
        let live = try await LiveServer.start()
        let status = try await live.status(ofRequest: row.value)
        #expect(row.statuses.contains(status), "\(status)")
        #expect(try await live.ask("/live").status == 200)
        try await live.expectCalm(warnings: 0)
    }

    static let targets: [BadInput<String>] = [
        .init("/../../etc/passwd", "/../../etc/passwd", 404),
        .init("%2e%2e%2f", "/_/plain/local:///%2e%2e%2fetc%2fpasswd", 404),
        .init("%2e%2e/", "/_/plain/local:///%2e%2e/etc/passwd", 404),
        .init("%252e%252e", "/_/plain/local:///%252e%252e/etc/passwd", 404),
        .init("..%5c", "/_/plain/local:///..%5cetc%5cpasswd", 404),
        .init("/proc/self/mem", "/_/plain/local:////proc/self/mem", 404),
    ]

    @Test(arguments: targets)
    func aTargetThatMeansNoPictureHasNone(_ row: BadInput<String>) async throws {
        let live = try await LiveServer.start()
        let status = try await live.status(ofTarget: row.value)
        #expect(row.statuses.contains(status), "\(status)")
        try await live.expectCalm()
    }

    /// Of each kind of step one; all sizes are in `GeometryTests`.
    @Test(arguments: [
        "rs:force:2147483647:2147483647:1", "exar:1/w:1000000/h:1",
        "w:2147483647/el:1/dpr:8/pd:1000:1000/ex:1",
    ])
    func whatWouldBeTooLargeIsReducedToTheLimit(options: String) async throws {
        let live = try await LiveServer.start { $0.limits.maxResultDimension = 200 }
        let answer = try await live.ask(.china(options))
        let size = try answer.pixelSize
        #expect(max(size.width, size.height) <= 200)
        #expect(min(size.width, size.height) >= 1)
        try await live.expectCalm()
    }

    static let fields: [BadInput<[String]>] = [
        .init(
            "Accept of 15 KiB", ["Accept: " + String(repeating: "image/webp;q=0.5,", count: 900)],
            200),
        .init(
            "Accept of 16 KiB and more",
            ["Accept: " + String(repeating: "image/webp;q=0.5,", count: 1100)], 431),
        .init("Range", ["Range: bytes=0-"], 200),
        .init("a range beyond the end", ["Range: bytes=999999999-"], 200),
        .init("X-Request-ID with another line", ["X-Request-ID: a\u{0B}b"], 200, 400),
        .init(
            "X-Request-ID of 10,000 letters",
            ["X-Request-ID: " + String(repeating: "a", count: 10_000)], 200),
        .init(
            "Via 1,000 times",
            ["Via: " + Array(repeating: "1.1 halcyon", count: 1000).joined(separator: ",")], 200),
    ]

    @Test(arguments: fields)
    func fieldsThatMakeNoSenseAreIgnoredOrABadRequest(_ row: BadInput<[String]>) async throws {
        let live = try await LiveServer.start {
            $0.negotiation.formats = ["webp"]
            $0.negotiation.usesClientHints = true
        }
        let status = try await live.status(ofTarget: Self.picture, fields: row.value)
        #expect(row.statuses.contains(status), "\(status)")
        #expect(try await live.ask(Self.picture).status == 200)
        try await live.expectCalm(warnings: 0)
    }
}

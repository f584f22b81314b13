import Foundation
import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Testing

/// Sources that lead into networks that are not for everybody. A server on this machine counts who comes.
@Suite struct AddressGuardTests {
    private let origin: OriginServer

    init() async throws {
        origin = try await OriginServer.start(files: ["/a.png": PNGFixture.green])
    }

    /// Everything is allowed but the addresses that are refused to all.
    private func start(
        _ change: (inout ImageServerConfiguration) throws -> Void = { _ in }
    ) async throws -> LiveServer {
        try await LiveServer.start {
            $0.sources.http.allow = ["*"]
            $0.sources.http.ports = [80, 443, origin.port]
            try change(&$0)
        }
    }

    static let sources: [BadInput<String>] = [
        .init("127.0.0.1", "http://127.0.0.1:{port}/a.png", 404),
        .init("localhost", "http://localhost:{port}/a.png", 404),
        .init("localhost with a dot", "http://localhost.:{port}/a.png", 404),
        .init("LOCALHOST", "http://LOCALHOST:{port}/a.png", 404),
        .init("[::1]", "http://[::1]:{port}/a.png", 404),
        .init("[::ffff:7f00:1]", "http://[::ffff:7f00:1]:{port}/a.png", 404),
        .init("[::127.0.0.1]", "http://[::127.0.0.1]:{port}/a.png", 404),
        .init("a zone", "http://[fe80::1%25eth0]:{port}/a.png", 404),
        .init("one number", "http://2130706433:{port}/a.png", 404),
        .init("a number in hexadecimal", "http://0x7f000001:{port}/a.png", 404),
        .init("octal", "http://0177.0.0.1:{port}/a.png", 404),
        .init("two parts", "http://127.1:{port}/a.png", 404),
        .init("digits in circles", "http://%E2%91%A0%E2%91%A1%E2%91%A6.0.0.1:{port}/a.png", 404),
        .init("a user", "http://user@127.0.0.1:{port}/a.png", 404),
        .init("a user and a password", "http://example.com:pw@127.0.0.1:{port}/a.png", 404),
        .init("a backslash", "http://example.com\\@127.0.0.1:{port}/a.png", 404),
        .init("another port", "http://example.com:22/", 404),
        .init("0.0.0.0", "http://0.0.0.0:{port}/a.png", 404),
        .init("127.255.255.254", "http://127.255.255.254:{port}/a.png", 404),
        .init("the addresses of clouds", "http://169.254.169.254/latest/meta-data/", 404),
        .init("the same in IPv6", "http://[fd00:ec2::254]/latest/meta-data/", 404),
    ]

    @Test(arguments: sources)
    func aSourceThatLeadsToThisMachineIsNotFetched(_ row: BadInput<String>) async throws {
        let live = try await start()
        let source = row.value.replacing("{port}", with: "\(origin.port)")
            .replacing("@", with: "%40").replacing("\\", with: "%5C")
        let answer = try await live.told("/_/plain/\(source)")
        #expect(row.statuses.contains(answer.status), "\(answer.text)")
        #expect(
            ["source_unreachable", "source_not_allowed"].contains(answer.code), "\(answer.text)")
        #expect(origin.connectionCount == 0)
        try await live.expectCalm()
    }

    @Test func watermarkFallbackAndTemplatesOfIIIFAreFetchedByTheSameRules() async throws {
        let inner = origin.url("/a.png").absoluteString
        let live = try await start {
            $0.watermark.picture.url = inner
            $0.fallback.picture.url = inner
            $0.iiif.isEnabled = true
            $0.iiif.templates = ["^(.*)$=\(origin.url("/"))$1.png"]
        }
        #expect(try await live.ask("/_/wm:1/plain/local:///china.jpg").status != 200)
        #expect(try await live.ask("/_/plain/local:///no.jpg").status == 404)
        #expect(try await live.ask("/iiif/3/a/info.json").status == 404)
        #expect(origin.connectionCount == 0)
    }

    /// However the address of this machine is written.
    @Test func noTextOfAURLLeadsToThisMachine() async throws {
        let live = try await start { $0.cache.negativeTTL = .zero }
        var random = SeededGenerator(state: 4711)
        let parts: [[String]] = [
            ["127", "0177", "0x7f", "127.", "1%327", "%31%32%37", "２127", "0000127"],
            [".0.0.1", ".1", ".0.1", ".0x0.0.1", "%2e0.0.1", ".0.0.1.", ".000.000.001", "。0。0。1"],
        ]
        let whole = [
            "2130706433", "0x7f000001", "017700000001", "localhost", "LocalHost", "localhost.",
            "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::7f00:1]",
            "[64:ff9b::127.0.0.1]", "[::1%25lo]", "0", "0.0.0.0", "ip6-localhost",
        ]
        let befores = [
            "", "", "a@", "a:b@", "example.com@", "example.com%40", "example.com\\", "//",
        ]
        let schemes = [
            "http://", "HTTP://", "http:", "http:/", "http:///", "https://", "\thttp://",
        ]
        let behind = [":{port}", ":{port}", ":0{port}", ":{port}#", ":{port}?", ":{port}\\", ""]
        func pick(_ texts: [String]) -> String {
            texts[Int.random(in: texts.indices, using: &random)]
        }
        for _ in 0..<400 {
            let host = Bool.random(using: &random) ? pick(whole) : parts.map(pick).joined()
            let pieces = [pick(schemes), pick(befores), host, pick(behind)]
            let source = (pieces.joined() + "/a.png").replacing("{port}", with: "\(origin.port)")
            // Every byte that a target may not have is encoded, half of the time all of them.
            let isPlain = Bool.random(using: &random)
            let target = source.utf8.map { byte in
                let isSafe = (0x21...0x7E).contains(byte) && byte != 0x40 && byte != 0x5C
                return isPlain && isSafe && byte != 0x23 && byte != 0x3F
                    ? String(UnicodeScalar(byte))
                    : "%" + String(hexadecimal: [byte])
            }.joined()
            #expect(try await live.status(ofTarget: "/_/plain/\(target)") == 404, "\(target)")
        }
        #expect(origin.connectionCount == 0)
    }
}

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
    private func start(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start {
            $0.sources.http.allow = ["*"]
            $0.sources.http.ports = [80, 443, origin.port]
            try change(&$0)
        }
    }

    /// Names and addresses of this machine, and of clouds' own servers.
    private static let hosts = [
        "127.0.0.1", "2130706433", "0x7f000001", "017700000001", "0177.0.0.1", "127.1", "localhost",
        "LocalHost", "localhost.", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]", "[::7f00:1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[::1%25lo]",
        "[fe80::1%25eth0]", "0", "0.0.0.0", "127.255.255.254", "ip6-localhost", "①②⑦.0.0.1",
        "user@127.0.0.1", "example.com:pw@127.0.0.1", "example.com\\@127.0.0.1",
        "169.254.169.254", "[fd00:ec2::254]",
    ]

    @Test(arguments: hosts)
    func aSourceThatLeadsToThisMachineIsNotFetched(host: String) async throws {
        let live = try await start()
        let source = try #require(
            "http://\(host):\(origin.port)/a.png".addingPercentEncoding(
                withAllowedCharacters: CharacterSet.urlPathAllowed.subtracting(["@"])
                    .union(["%", "[", "]"])))
        let outcome = try await live.outcome("/_/plain/\(source)")
        #expect(["404 source_unreachable", "404 source_not_allowed"].contains(outcome))
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
        #expect(try await live.ask(.china("wm:1")).status != 200)
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
            let host = Bool.random(using: &random) ? pick(Self.hosts) : parts.map(pick).joined()
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

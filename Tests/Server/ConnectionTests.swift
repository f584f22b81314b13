import Foundation
import HalcyonHTTP
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import Testing

/// Clients that are slow, or say too much, and proxies in between.
@Suite struct ConnectionTests {
    @Test func aHeadThatIsTooLargeIsRefused() async throws {
        let live = try await LiveServer.start { $0.limits.maxHeaderBytes = 4096 }
        for count in [5, 8] {
            let fields = (0..<count).map { "X-Field-\($0): \(String(repeating: "a", count: 1000))" }
            let answer = try await RawClient(port: live.port).exchange(
                "/_/w:10/plain/local:///china.jpg", headers: fields)
            #expect(answer.head.hasPrefix("HTTP/1.1 431"), "\(answer.head)")
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.hasPrefix("Headers are too large: "), "\(text)")
            #expect(text.contains("limits.maxHeaderBytes"))
        }
        let many = (0..<100).map { "X-\($0): a" }
        let answer = try await RawClient(port: live.port).exchange("/health", headers: many)
        #expect(answer.head.hasPrefix("HTTP/1.1 431"))
        #expect(try await live.ask("/health").status == 200)
    }

    @Test func aHeadThatDoesNotEndInTimeEndsTheConnection() async throws {
        let live = try await LiveServer.start {
            $0.work.headTimeout = .milliseconds(200)
            $0.work.idleTimeout = .seconds(600)
        }
        // Between two requests nothing has to come in time.
        let patient = try RawClient(port: live.port)
        for _ in 0..<2 {
            #expect(await patient.answer(to: "/live") != nil)
            let other = try RawClient(port: live.port)
            other.send("GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            #expect(await other.read().bytes.isEmpty)
        }
    }

    @Test(arguments: [
        (["X-Forwarded-For": "203.0.113.9"], "203.0.113.9"),
        (["X-Forwarded-For": "10.9.9.9, 203.0.113.9, 127.0.0.7"], "203.0.113.9"),
        (["X-Forwarded-For": "203.0.113.9, nonsense"], "127.0.0.1"),
        (["Forwarded": "for=\"[2001:db8::7]:4711\";proto=https, for=127.0.0.9"], "2001:db8::7"),
        (["Forwarded": "for=unknown"], "127.0.0.1"), ([:], "127.0.0.1"),
    ])
    func aTrustedProxyTellsWhoAsks(fields: [String: String], peer: String) async throws {
        let live = try await LiveServer.start {
            $0.trustedProxies = ["127.0.0.0/8"].compactMap(IPNetwork.init)
        }
        _ = try await live.ask(.china("w:10"), fields: fields)
        #expect(try await live.loggedRequest()["peer"] == peer)
    }

    @Test(arguments: ["127.0.0.1/32", "10.0.0.0/8"])
    func onlyATrustedProxyTellsTheAddressThatTheClientUsed(trusted: String) async throws {
        let live = try await LiveServer.start {
            $0.trustedProxies = [trusted].compactMap(IPNetwork.init)
            $0.serveIIIF()
        }
        let fields = [
            "X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https",
            "X-Forwarded-Host": "img.example.com",
        ]
        let answer = try await live.ask("/iiif/3/china/info.json", fields: fields)
        let isTrusted = trusted.hasPrefix("127")
        let base = isTrusted ? "https://img.example.com" : "http://127.0.0.1:\(live.port)"
        #expect(answer.text.contains("\"\(base)/iiif/3/china\""))
        #expect(try await live.loggedRequest()["peer"] == (isTrusted ? "203.0.113.9" : "127.0.0.1"))
    }
}

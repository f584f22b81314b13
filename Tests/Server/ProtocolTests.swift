import Foundation
import HalcyonServer
import HalcyonTestKit
import Testing

/// What HTTP says of connections, hosts, methods and lengths (RFC 9110 and 9112), byte by byte.
@Suite struct ProtocolTests {
    /// Sends text and reads all answers until the connection ends.
    private func answers(
        _ text: String, port: Int,
        until isEnough: @escaping @Sendable ([WireAnswer]) -> Bool = { _ in false }
    ) async throws -> [WireAnswer] {
        let client = try RawClient(port: port)
        client.send(text)
        let (bytes, _) = await client.read { isEnough(WireAnswer.all(in: $0)) }
        return WireAnswer.all(in: bytes)
    }

    private func ports(_ live: LiveServer) throws -> [Int] {
        [live.port, try #require(live.listening.operationsPort)]
    }

    static let upgrades = [
        "GET /live HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
            + "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n\r\n",
        "GET /live HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET /nothing HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a, b/1\r\n\r\n",
        "GET /live HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\n\r\n",
        "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
        "OPTIONS / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: TLS/1.2\r\n\r\n",
    ]

    @Test(arguments: upgrades)
    func requestsAfterAnUpgradeThatIsNotTakenAreAnswered(_ upgrade: String) async throws {
        let live = try await LiveServer.start()
        for port in try ports(live) {
            // In one piece, and one after the other.
            let next = "GET /live HTTP/1.1\r\nHost: a\r\n\r\n"
            let last = "GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let all = try await answers(upgrade + next + upgrade + last, port: port)
            #expect(all.count == 4)
            #expect(all.last?.status == 200 && all[1].status == 200)
            #expect(all.allSatisfy { $0.status != 101 })
            let client = try RawClient(port: port)
            for request in [upgrade, next, upgrade, next] {
                client.send(request)
                #expect(await client.answer() != nil)
            }
        }
    }

    @Test func theBodyOfARequestForAnUpgradeIsNotTheNextRequest() async throws {
        let live = try await LiveServer.start()
        let port = try #require(live.listening.operationsPort)
        let body = "{\"all\":true}"
        let fields = "Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
        let chunks = "5\r\n{\"all\r\n7\r\n\":true}\r\n0\r\n\r\n"
        let all = try await answers(
            "POST /purge HTTP/1.1\r\n\(fields)Content-Length: \(body.count)\r\n\r\n\(body)"
                + "POST /purge HTTP/1.1\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n\(chunks)"
                + "GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: port)
        #expect(all.map(\.status) == [200, 200, 200] && all.last?.body == "ok\n")
    }

    @Test func whatFollowsATunnelWithABodyIsNotRead() async throws {
        let live = try await LiveServer.start()
        let all = try await answers(
            "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: 40\r\n\r\n"
                + "GET /live HTTP/1.1\r\nHost: a\r\n\r\n", port: live.port)
        #expect(all.count == 1)
        #expect(all.first?["connection"] == "close")
    }

    @Test(
        arguments: [
            ("1.0", "", nil), ("1.0", "Connection: keep-alive\r\n", "keep-alive"),
            ("1.0", "Connection: Keep-Alive\r\n", "keep-alive"),
            ("1.0", "Connection: foo, KEEP-ALIVE\r\n", "keep-alive"),
            ("1.0", "Connection: close, keep-alive\r\n", nil), ("1.0", "Connection: foo\r\n", nil),
            ("1.1", "", ""), ("1.1", "Connection: keep-alive\r\n", ""),
            ("1.1", "Connection: close\r\n", nil), ("1.1", "Connection: Close\r\n", nil),
            ("1.1", "Connection: TE, close\r\n", nil),
            ("1.1", "Connection: foo,\tcLOSE ,bar\r\n", nil),
            ("1.1", "Connection: keep-alive, close\r\n", nil),
        ] as [(String, String, String?)])
    func connectionsStayAsTheVersionHasIt(
        version: String, fields: String, stays: String?
    ) async throws {
        let live = try await LiveServer.start { $0.work.idleTimeout = .seconds(600) }
        for port in try ports(live) {
            for target in ["/live", "/nothing"] {
                let client = try RawClient(port: port)
                client.send("GET \(target) HTTP/\(version)\r\nHost: a\r\n\(fields)\r\n")
                // A connection that does not stay ends at once.
                let (bytes, _) = await client.read {
                    stays != nil && !WireAnswer.all(in: $0).isEmpty
                }
                let answer = try #require(WireAnswer.all(in: bytes).first)
                #expect(answer["content-length"] != nil)
                #expect(answer["connection"] ?? "" == stays ?? "close")
                guard stays != nil else { continue }
                client.send("GET /live HTTP/1.0\r\n\r\n")
                let last = WireAnswer.all(in: await client.read().bytes)
                #expect(last.map(\.body) == ["ok\n"])
            }
        }
    }

    @Test(arguments: [
        [], ["a", "a"], ["a", "b"], ["a b"], ["a/b"], ["a@b"], ["<a>"], ["a:b"], ["a:99999"],
        ["a:1:2"], ["[::1"], ["[a]"], ["[::1]x"], ["é"], [""], [":80"], ["a%zz"], ["a\u{1}"],
        ["http://a/"], ["a,"], ["\""],
    ])
    func aRequestNamesOneHost(hosts: [String]) async throws {
        let live = try await LiveServer.start()
        for port in try ports(live) {
            let lines = hosts.map { "Host: \($0)\r\n" }.joined()
            let all = try await answers("GET /live HTTP/1.1\r\n\(lines)\r\n", port: port) { _ in
                // Of sub-delimiters names may be made.
                hosts == ["a,"]
            }
            if hosts == ["a,"] { continue }
            #expect(all.map(\.status) == [400])
            #expect(all.first?["connection"] == "close")
        }
    }

    @Test(arguments: [
        "a", "a:80", "a:", "A.Example.COM.", "127.0.0.1:8080", "[::1]:80", "[::1]", "a_b-c~1",
        "%41", "xn--bcher-kva.example",
    ])
    func hostsAreTakenAsTheyMayBeWritten(host: String) async throws {
        let live = try await LiveServer.start()
        let all = try await answers(
            "GET /live HTTP/1.1\r\nhOST:  \(host) \r\nConnection: close\r\n\r\n", port: live.port)
        #expect(all.map(\.status) == [200])
        // The old version has none.
        let old = try await answers("GET /live HTTP/1.0\r\n\r\n", port: live.port)
        #expect(old.map(\.status) == [200])
    }

    private static let long = String(repeating: "a", count: 70_000)

    private static let heads: [(LongText, Int)] = [
        ("GET /\(long) HTTP/1.1\r\nHost: a\r\n\r\n", 414), ("GET /\(long)", 414),
        ("GET /\(long.prefix(9000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        ("GET /\(long.prefix(16_400)) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        ("GET /\(long)\(long)\(long) HTTP/1.1\r\nHost: a\r\n\r\n", 414),
        ("GET /live HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n", 431),
        ("GET /live HTTP/1.1\r\nHost: a\r\n\(long): x\r\n\r\n", 431),
        ("GET /live HTTP/1.1\r\nHost: a\r\nX: \(long)", 431),
        ("BREW /live HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        ("PROPFIND /live HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        ("DESCRIBE /live HTTP/1.1\r\nHost: a\r\n\r\n", 501),
        ("get /live HTTP/1.1\r\nHost: a\r\n\r\n", 501), ("\(long) / HTTP/1.1\r\n\r\n", 501),
        ("PUT /_/w:1/plain/local:///china.jpg HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        ("TRACE /_/w:1/plain/local:///china.jpg HTTP/1.1\r\nHost: a\r\n\r\n", 405),
        ("B(EW / HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("GET /live\r\n\r\n", 400),
        ("GET  /live HTTP/1.1\r\nHost: a\r\n\r\n", 400), ("BREW\r\n\r\n", 400),
        ("BREW / HTTP\r\n\r\n", 400), ("GET /live HTTP/1.1 x\r\nHost: a\r\n\r\n", 400),
        ("GET /live HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
        ("\r\n\r\nGET /live HTTP/1.1\r\nHost: a\r\n\r\n", 200),
        ("GET /live HTTP/1.1\nHost: a\n\n", 400),
    ]

    @Test(arguments: heads)
    func whatIsWrongWithAHeadDecidesTheStatus(head: LongText, status: Int) async throws {
        let live = try await LiveServer.start()
        // Behind another one, too.
        for before in ["", "GET /live HTTP/1.1\r\nHost: a\r\n\r\n"] {
            let count = before.isEmpty ? 1 : 2
            let all = try await answers(before + head.value, port: live.port) { $0.count == count }
            #expect(all.map(\.status) == (before.isEmpty ? [status] : [200, status]))
            if status != 200, status != 405 {
                #expect(all.last?["connection"] == "close" || status == 414)
                #expect(all.last?["x-request-id"] != nil)
            }
        }
        try await live.expectCalm(warnings: 0)
    }

    @Test func aHeadThatComesInPiecesIsReadAsInOne() async throws {
        let live = try await LiveServer.start { $0.work.headTimeout = .seconds(600) }
        let text =
            "GET /_/w:3/plain/local:///china.jpg HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
            + "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
            + "GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        for size in [1, 2, 3, 7, 1000] {
            let client = try RawClient(port: live.port)
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                client.send(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            let all = WireAnswer.all(in: await client.read().bytes)
            #expect(all.map(\.status) == [200, 405, 200])
        }
    }

    @Test func theNameOfTheTokensSchemeIsTakenInAnyCase() async throws {
        let live = try await LiveServer.start {
            $0.secret = "sesame"
            $0.operationsToken = "open"
        }
        let target = "/_/w:1/plain/local:///china.jpg"
        for (given, status) in [
            ("bearer sesame", 200), ("BEARER sesame", 200), ("Bearer  sesame", 200),
            ("Bearer sesame", 200), ("Bearer Sesame", 403), ("Basic sesame", 403),
            ("sesame", 403), ("bearer", 403), ("bearersesame", 403),
        ] {
            let answer = try await live.ask(target, fields: ["Authorization": given])
            #expect(answer.status == status, "\(given)")
        }
        #expect(try await live.ask("/health").status == 200)
        for (given, status) in [("bearer open", 200), ("bearer sesame", 403)] {
            let answer = try await live.ask(
                "/purge", method: "POST", fields: ["Authorization": given],
                body: Data("{\"all\":true}".utf8), operations: true)
            #expect(answer.status == status, "\(given)")
        }
    }

    @Test func whatNeedsATokenIsKeptByNoCacheOfSeveralClients() async throws {
        let live = try await LiveServer.start {
            $0.secret = "sesame"
            $0.http.ttl = .seconds(60)
            $0.http.errorTTL = .seconds(60)
            $0.serveIIIF()
        }
        let fields = ["Authorization": "Bearer sesame"]
        let targets = [
            "/_/w:1/plain/local:///china.jpg", "/info/_/plain/local:///china.jpg",
            "/iiif/3/china/info.json", "/iiif/3/china/full/10,/0/default.jpg",
            "/_/w:x/plain/local:///china.jpg",
        ]
        for target in targets {
            let answer = try await live.ask(target, fields: fields)
            #expect(answer["Cache-Control"] == "private, max-age=60", "\(target)")
            if let tag = answer["ETag"] {
                let known = try await live.ask(
                    target, fields: fields.merging(["If-None-Match": tag]) { $1 })
                known.expect(304, ["Cache-Control": "private, max-age=60"])
            }
        }
        let open = try await LiveServer.start { $0.http.ttl = .seconds(60) }
        #expect(try await open.ask(targets[0])["Cache-Control"] == "public, max-age=60")
    }
}

/// An answer as it is on the wire, to any request but HEAD.
struct WireAnswer: Sendable {
    let status: Int
    let body: String
    private let fields: [String: String]

    /// By its name in small letters.
    subscript(name: String) -> String? { fields[name] }
    /// Whether it says that no other follows.
    var isLast: Bool { self["connection"] == "close" }

    /// The whole ones at the beginning of `bytes`.
    static func all(in bytes: [UInt8]) -> [WireAnswer] {
        var answers: [WireAnswer] = []
        var rest = bytes[...]
        while let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) {
            let lines = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
                .components(separatedBy: "\r\n")
            let pairs = lines.dropFirst().compactMap { line -> (String, String)? in
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2 else { return nil }
                return (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
            }
            let fields = Dictionary(pairs) { first, _ in first }
            let after = rest[end.upperBound...]
            let length = fields["content-length"].flatMap { Int($0) } ?? 0
            guard after.count >= length else { break }
            answers.append(
                WireAnswer(
                    status: Int(lines[0].dropFirst(9).prefix(3)) ?? 0,
                    body: String(decoding: after.prefix(length), as: UTF8.self), fields: fields))
            rest = after.dropFirst(length)
        }
        return answers
    }
}

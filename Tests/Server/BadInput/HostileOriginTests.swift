import Foundation
import HalcyonPixels
import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Testing

/// Servers of sources that do what they must not.
@Suite struct HostileOriginTests {
    private static let picture = PNGFixture.green
    private let origin: OriginServer
    private let gate = Gate()

    init() async throws { origin = try await OriginServer.start() }

    private func start(
        _ time: TimeSource = .system, _ change: LiveServer.Change = { _ in }
    ) async throws -> LiveServer {
        try await LiveServer.start(origin, time: time) {
            $0.limits.maxSourceBytes = 1 << 20
            $0.sources.http.stallTimeout = .seconds(20)
            $0.sources.http.totalTimeout = .seconds(60)
            try change(&$0)
        }
    }

    /// The status and the code of the answer for a source.
    private func answer(_ live: LiveServer, _ url: URL) async throws -> String {
        try await live.outcome("/_/w:10/plain/\(url.absoluteString)")
    }

    /// An answer from its status on.
    private static func raw(_ head: String, _ body: Data = Data()) -> OriginResponse {
        .garbage(Data("HTTP/1.1 \(head)\n\n".replacing("\n", with: "\r\n").utf8) + body)
    }

    private static func part(_ range: String) -> OriginResponse {
        let length = "Content-Length: \(picture.count)"
        return raw("206 Partial Content\nContent-Range: bytes \(range)\n\(length)", picture)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let response: OriginResponse
        let expected: [String]

        init(_ name: String, _ response: OriginResponse, _ expected: String...) {
            testDescription = name
            self.response = response
            self.expected = expected
        }
    }

    private static let (unreachable, noPicture) = ("404 source_unreachable", "404 source_status")
    private static let (incomplete, damaged) = ("422 source_incomplete", "422 source_damaged")
    private static let (unknown, tooLarge) = ("422 source_format", "422 source_too_large")
    private static let fine = "200 "

    static let rows: [Row] = [
        Row("resets", .abort(.reset), unreachable),
        Row("closes without an answer", .abort(.close), unreachable),
        Row("sends garbage", .garbage(), unreachable),
        Row("a status of 999", raw("999 No\nContent-Length: 0"), unreachable, "502 source_status"),
        Row(
            "100,000 times 100 Continue",
            raw("100 Continue" + String(repeating: "\n\nHTTP/1.1 100 Continue", count: 99_999)),
            unreachable, incomplete),
        Row(
            "a length that is too small",
            .png(picture).with(.declaredLength(picture.count / 2)).header("Connection", "close"),
            damaged, incomplete),
        Row(
            "a length beyond the limit",
            raw("200 OK\nContent-Length: 9999999999", picture), tooLarge),
        Row(
            "a length below nothing", raw("200 OK\nContent-Length: -1", picture),
            unreachable, incomplete, fine),
        Row("206 of a part", part("0-9/99"), incomplete),
        Row("206 of the whole", part("0-\(picture.count - 1)/\(picture.count)"), fine),
        Row("304 that nobody asked for", OriginResponse(status: 304), noPicture),
        Row("204", OriginResponse(status: 204), noPicture),
        Row("a redirect without a place", OriginResponse(status: 302), noPicture, unreachable),
        Row(
            "a redirect with another line",
            raw("302 Found\nLocation: /good\n X: y\nContent-Length: 0"),
            // Without the other line.
            fine, unreachable, noPicture, "404 source_not_allowed"),
        Row("a redirect with %0d%0a", .redirect(to: "/good%0d%0aX:y"), noPicture, unreachable),
        Row("a redirect to data:", .redirect(to: "data:image/png;base64,AAAA"), unreachable),
        Row(
            "a redirect to clouds' own servers", .redirect(to: "http://169.254.169.254/"),
            unreachable),
        Row("the same, written in IPv6", .redirect(to: "http://[::ffff:a9fe:a9fe]/"), unreachable),
        Row("a zip", .png(Data([0x50, 0x4B, 3, 4]) + Data(count: 99)), unknown),
        Row("a PDF", .ok(Data("%PDF-1.4\n%\n".utf8), contentType: "image/png"), unknown, damaged),
        Row(
            "a GIF that is a script",
            .ok(Data("GIF89a/**/=1;alert(1)".utf8), contentType: "text/javascript"), damaged,
            unknown, "422 source_too_complex"),
    ]

    @Test(arguments: rows)
    func anOriginThatMisbehavesIsToldFromOneThatHasNoPicture(row: Row) async throws {
        origin.route("/a", row.response)
        origin.route("/good", .png(Self.picture))
        let live = try await start()
        let found = try await answer(live, origin.url("/a"))
        #expect(row.expected.contains(found), "\(found)")
        try await live.expectCalm()
        // Nothing that it did is still believed.
        origin.route("/b", .png(Self.picture))
        #expect(try await answer(live, origin.url("/b")) == "200 ")
    }

    /// Where an origin hangs, or has become so slow that it seems to.
    enum Hang: String, CaseIterable, Sendable {
        case beforeTheHead, inTheHead, inTheBody, slowHead, slowBody
    }

    private func response(_ hang: Hang) -> OriginResponse {
        let head = Self.raw("200 OK\nContent-Type: image/png", Self.picture)
        let slowly = OriginBehaviour.slices(bytes: 1, pacing: .interval(.seconds(1)))
        return switch hang {
        case .beforeTheHead: .png(Self.picture).with(.wait(.gate(gate)))
        case .inTheHead: head.with(.hold(afterBytes: 25, .gate(gate)))
        case .inTheBody: .png(Self.picture).with(.hold(afterBytes: 20, .gate(gate)))
        case .slowHead: head.with(slowly)
        case .slowBody: .png(Self.picture).with(slowly)
        }
    }

    /// However much time its own limits leave an origin, who waits for it has his answer in time.
    @Test(arguments: Hang.allCases, [true, false])
    func anOriginThatHangsIsLeftInTime(hang: Hang, byItsLimits: Bool) async throws {
        let clock = ManualClock()
        let live = try await start(byItsLimits ? .system : clock.time) {
            if byItsLimits { $0.sources.http.stallTimeout = .milliseconds(300) }
        }
        origin.route("/a", response(hang))
        async let late = answer(live, origin.url("/a"))
        await origin.waitForRequests(1)
        if !byItsLimits { clock.advance(by: live.server.configuration.work.requestTimeout) }
        #expect(try await late == (byItsLimits ? "504 source_timeout" : "503 deadline"))
        await origin.waitForAbandonedRequests(1)
        try await live.expectCalm()
        gate.open()
    }

    /// All programs on the way see the same host: the one before the backslash.
    @Test func aRedirectWithBackslashesLeadsWhereBrowsersGo() async throws {
        let live = try await start()
        let there = "127.0.0.1:\(origin.port)"
        origin.route("/good", .png(Self.picture))
        origin.route("/@evil.example/x", .png(Self.picture))
        for (location, expected) in [
            ("\\good", Self.fine), ("http:\\\\\(there)\\good", Self.fine),
            ("http://\(there)\\@evil.example/x", Self.fine),
            ("http://evil.example\\@\(there)/good", Self.unreachable),
            ("\\\\evil.example\\@\(there)/good", Self.unreachable),
        ] {
            let path = "/\(UUID().uuidString)"
            origin.route(path, .redirect(to: location))
            #expect(try await answer(live, origin.url(path)) == expected, "\(location)")
        }
        #expect(origin.requestCount(for: "/good") == 2)
    }

    @Test func tenRedirectsAreTooMany() async throws {
        for number in 0..<10 { origin.route("/\(number)", .redirect(to: "/\(number + 1)")) }
        origin.route("/10", .png(Self.picture))
        let live = try await start()
        #expect(try await answer(live, origin.url("/0")) == "404 source_unreachable")
        #expect(try await answer(live, origin.url("/7")) == "200 ")
        #expect(origin.requestCount <= 4 + 4)
        let strict = try await start { $0.sources.http.redirects = 2 }
        #expect(try await answer(strict, origin.url("/8")) == "200 ")
        #expect(try await answer(strict, origin.url("/7")) == "404 source_unreachable")
    }

    /// What leads back to the server that asks for it is fetched three times at most, and nobody waits for
    /// himself.
    @Test func aSourceThatIsTheServerItselfEnds() async throws {
        let place = Locked("")
        origin.route("/loop") { _ in .redirect(to: place.value) }
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["http://127.0.0.1:*"]
            $0.sources.http.ports = Array(1024...65535)
            $0.sources.http.allowsLoopback = true
        }
        let target = "/_/w:10/plain/\(origin.url("/loop").absoluteString)"
        place.set("http://127.0.0.1:\(live.port)\(target)")
        #expect(try await live.ask(target).status == 404)
        #expect(origin.requestCount == 3)
        let fields = origin.requests.map { $0.headers["Via"] ?? "" }
        #expect(
            fields == [
                "1.1 halcyon", "1.1 halcyon, 1.1 halcyon", "1.1 halcyon, 1.1 halcyon, 1.1 halcyon",
            ])
        try await live.expectCalm(warnings: 4)
        // A server may well be the source of another one.
        origin.route("/a.png", .png(Self.picture))
        let inner =
            "http://127.0.0.1:\(live.port)/_/w:20/plain/\(origin.url("/a.png").absoluteString)"
        #expect(try await live.ask("/_/w:10/plain/\(inner)").status == 200)
    }
}

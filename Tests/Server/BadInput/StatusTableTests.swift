import Foundation
import HalcyonHTTP
import HalcyonServer
import HalcyonTestKit
import Logging
import Testing

/// The table of what is answered when there is no picture: status, code, level of the log, and for how long
/// caches may keep it. Row by row, through the whole server.
@Suite struct StatusTableTests {
    private static let picture = PNGFixture.solid(Pixel(10, 200, 30), width: 40, height: 20)

    enum Kept: String, Sendable {
        case no = "no-store"
        case errorTTL = "public, max-age=7"
        case negative = "public, max-age=5"
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// `{origin}` stands for a server that has what the paths below say.
        let target: String
        let status: Int
        let code: String
        let level: Logger.Level
        let kept: Kept

        init(
            _ name: String, _ target: String, _ status: Int, _ code: String, _ level: Logger.Level,
            _ kept: Kept
        ) {
            testDescription = name
            self.target = target
            self.status = status
            self.code = code
            self.level = level
            self.kept = kept
        }
    }

    private static let responses: [String: OriginResponse] = [
        "/a.png": .png(picture), "/401": .status(401), "/403": .status(403), "/404": .status(404),
        "/410": .status(410), "/418": .status(418),
        "/429": .status(429).header("Retry-After", "7"), "/500": .status(500),
        "/loop": .redirect(to: "/loop"), "/ftp": .redirect(to: "ftp://127.0.0.1/a"),
        "/short": .png(picture).with(.breakOff(afterBytes: 20, .close)),
        "/large": .endless(picture + Data(count: 1 << 16)), "/html": .html(), "/empty": .empty,
        "/damaged": .png(picture.prefix(picture.count / 2)),
        "/many": .png(PNGFixture.solid(.red, width: 800, height: 700)),
        "/drawing": .ok(
            Data(
                ("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\">"
                    + String(repeating: "<g/>", count: 100_001) + "</svg>").utf8)),
    ]

    static let rows: [Row] = [
        Row("path without two parts", "/_", 404, "invalid_path", .info, .errorTTL),
        Row("bad source text", "/_/plain/%ff", 404, "invalid_path", .info, .errorTTL),
        Row(
            "old grammar", "/_/fit/300/200/plain/local:///china.jpg", 404, "invalid_path", .info,
            .errorTTL),
        Row(
            "unknown option", "/_/nothing:1/plain/local:///china.jpg", 404, "invalid_option", .info,
            .errorTTL),
        Row(
            "wrong option", "/_/w:-1/plain/local:///china.jpg", 404, "invalid_option", .info,
            .errorTTL),
        Row(
            "option of the commercial version", "/_/br:1/plain/local:///china.jpg", 404,
            "unsupported_option", .info, .errorTTL),
        Row(
            "security option not allowed", "/_/msr:1000/plain/local:///china.jpg", 403,
            "option_forbidden", .info, .errorTTL),
        Row(
            "raw not allowed", "/_/raw:1/plain/local:///china.jpg", 403, "option_forbidden", .info,
            .errorTTL),
        Row("signature missing", "/w:10/plain/local:///china.jpg", 403, "forbidden", .info, .no),
        Row(
            "exp in the past", "/_/exp:1000000000/plain/local:///china.jpg", 404, "expired", .debug,
            .no),
        Row(
            "IIIF region", "/iiif/3/china/1,2/max/0/default.jpg", 400, "iiif_region", .info,
            .errorTTL),
        Row(
            "IIIF size", "/iiif/3/china/full/full/0/default.jpg", 400, "iiif_size", .info, .errorTTL
        ),
        Row(
            "IIIF rotation", "/iiif/3/china/full/max/361/default.jpg", 400, "iiif_rotation", .info,
            .errorTTL),
        Row(
            "IIIF quality", "/iiif/3/china/full/max/0/sepia.jpg", 400, "iiif_quality", .info,
            .errorTTL),
        Row(
            "IIIF format", "/iiif/3/china/full/max/0/default.pdf", 400, "iiif_format", .info,
            .errorTTL),
        Row(
            "IIIF identifier unknown", "/iiif/3/nobody/info.json", 404, "not_found", .info,
            .negative),
        Row(
            "format cannot be written", "/_/plain/local:///china.jpg@ico", 422,
            "format_unsupported", .info, .errorTTL),
        Row(
            "SVG wanted of pixels", "/_/plain/local:///china.jpg@svg", 422, "format_unsupported",
            .info, .errorTTL),
        Row(
            "source not on the allow-list", "/_/plain/http://example.com/a.jpg", 404,
            "source_not_allowed", .warning, .negative),
        Row(
            "scheme unknown", "/_/plain/s3://bucket/a.jpg", 404, "unknown_scheme", .warning,
            .negative),
        Row(
            "address refused by the guard", "/_/plain/http://127.0.0.2:{port}/a.png", 404,
            "source_unreachable", .warning, .negative),
        Row(
            "host unknown", "/_/plain/http://no-such-host.invalid:{port}/a.png", 404,
            "source_unreachable", .warning, .negative),
        Row(
            "connection refused", "/_/plain/http://127.0.0.1:{closed}/a.png", 404,
            "source_unreachable", .warning, .negative),
        Row(
            "TLS failed", "/_/plain/https://127.0.0.1:{port}/a.png", 404, "source_unreachable",
            .warning, .negative),
        Row(
            "too many redirects", "/_/plain/{origin}/loop", 404, "source_unreachable", .warning,
            .negative),
        Row(
            "redirect refused", "/_/plain/{origin}/ftp", 404, "source_unreachable", .warning,
            .negative),
        Row(
            "local file missing", "/_/plain/local:///no.jpg", 404, "source_not_found", .info,
            .negative),
        Row(
            "local file refused", "/_/plain/local:///.hidden", 404, "source_not_found", .info,
            .negative),
        Row("origin 401", "/_/plain/{origin}/401", 401, "source_status", .info, .negative),
        Row("origin 403", "/_/plain/{origin}/403", 403, "source_status", .info, .negative),
        Row("origin 404", "/_/plain/{origin}/404", 404, "source_status", .info, .negative),
        Row("origin 410", "/_/plain/{origin}/410", 410, "source_status", .info, .negative),
        Row("origin, other 4xx", "/_/plain/{origin}/418", 418, "source_status", .info, .negative),
        Row("origin 429", "/_/plain/{origin}/429", 503, "source_busy", .warning, .no),
        Row("origin 5xx", "/_/plain/{origin}/500", 502, "source_status", .warning, .negative),
        Row(
            "body shorter than announced", "/_/plain/{origin}/short", 422, "source_incomplete",
            .warning, .no),
        Row(
            "body too large", "/_/plain/{origin}/large", 422, "source_too_large", .warning,
            .negative),
        Row("HTML", "/_/plain/{origin}/html", 422, "source_format", .info, .negative),
        Row("empty body", "/_/plain/{origin}/empty", 422, "source_format", .info, .negative),
        Row(
            "unknown format", "/_/plain/local:///CREDITS.md", 422, "source_format", .info, .negative
        ),
        Row(
            "too many pixels", "/_/plain/{origin}/many", 422, "source_too_complex", .warning,
            .negative),
        Row(
            "too many pixels in all frames", "/_/plain/{origin}/frames", 422, "source_too_complex",
            .warning, .negative),
        Row(
            "a drawing of too many parts", "/_/plain/{origin}/drawing", 422, "source_too_complex",
            .warning, .negative),
        Row(
            "damaged picture", "/_/w:10/plain/{origin}/damaged", 422, "source_damaged", .info,
            .negative),
        Row(
            "URL too long", "/_/plain/local:///" + String(repeating: "a", count: 2000), 414,
            "too_long", .debug, .no),
    ]

    @Test(arguments: rows)
    func aFailureIsAnsweredAndLoggedAsTheTableSays(row: Row) async throws {
        let origin = try await OriginServer.start()
        let closed = try ClosedPort()
        for (path, response) in Self.responses { origin.route(path, response) }
        let samples = URL(fileURLWithPath: try #require(LiveServer.samples))
        origin.route(
            "/frames", .ok(try Data(contentsOf: samples.appendingPathComponent("kingfisher.gif"))))
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["*"]
            $0.sources.http.allow.append("http://127.0.0.1:*")
            $0.sources.http.ports = [origin.port, closed.number]
            // Everything but this address, which is the origin's.
            $0.sources.http.allowAddresses = [try #require(IPNetwork("127.0.0.1/32"))]
            if row.code == "source_not_allowed" { $0.sources.http.allow = ["http://127.0.0.1:*"] }
            $0.limits.maxSourceBytes = 4 << 20
            $0.limits.maxPixels = 500_000
            $0.processing.svg = .sanitize
            $0.limits.maxURLLength = 1000
            $0.http.ttl = .seconds(1000)
            $0.http.errorTTL = .seconds(7)
            $0.iiif.isEnabled = true
            $0.iiif.directories = [try #require(LiveServer.samples)]
        }
        let target = row.target.replacing(
            "{origin}", with: origin.url("").absoluteString.dropLast()
        )
        .replacing("{port}", with: "\(origin.port)")
        .replacing("{closed}", with: "\(closed.number)")
        let answer = try await live.ask(target, fields: ["Accept": "application/json"])
        #expect(answer.status == row.status)
        #expect(answer.text.contains("\"code\":\"\(row.code)\""), "\(answer.text)")
        #expect(answer["Cache-Control"] == row.kept.rawValue)
        #expect(answer["Content-Type"]?.hasPrefix("image/") == false)
        #expect((answer["Retry-After"] != nil) == (row.status == 503))
        let event = try await live.loggedRequest()
        #expect(event.level == row.level)
        #expect(event["code"] == row.code)
        #expect(event["status"] == "\(row.status)")
        // Briefly, without what only the operator is to know.
        let plain = try await live.ask(target, fields: ["Accept": "text/plain"])
        #expect(plain.text.count { $0 == "\n" } == 1)
        let configuration = live.server.configuration
        let folders = [configuration.sources.local.root, configuration.cache.directory]
        for secret in ["127.0.0.1"] + folders.compactMap(\.self) {
            #expect(!plain.text.contains(secret))
        }
    }

    @Test func originTooSlow() async throws {
        let origin = try await OriginServer.start()
        let gate = Gate()
        origin.route("/a.png", .png(Self.picture).with(.wait(.gate(gate))))
        let live = try await LiveServer.start(origin) {
            $0.sources.http.stallTimeout = .milliseconds(200)
            $0.http.ttl = .seconds(1000)
        }
        let target = "/_/plain/\(origin.url("/a.png").absoluteString)"
        let answer = try await live.ask(target)
        #expect(answer.status == 504 && answer["Cache-Control"] == "no-store")
        let event = try await live.loggedRequest()
        #expect(event.level == .warning && event["code"] == "source_timeout")
        gate.open()
    }

    /// Where nobody takes connections any more, and what comes for ever but too slowly.
    @Test func originTooSlowToConnectOrInTotal() async throws {
        let origin = try await OriginServer.start()
        origin.route("/a.png", .drip(Self.picture + Data(count: 9999), every: .milliseconds(50)))
        let full = try FullPort()
        for url in [full.url("/a.png"), origin.url("/a.png")] {
            let live = try await LiveServer.start {
                $0.sources.http.allow = ["http://127.0.0.1:*"]
                $0.sources.http.ports = [origin.port, full.number]
                $0.sources.http.allowsLoopback = true
                $0.sources.http.connectTimeout = .milliseconds(300)
                $0.sources.http.totalTimeout = .milliseconds(600)
                $0.http.ttl = .seconds(1000)
            }
            let answer = try await live.ask("/_/plain/\(url)")
            #expect(answer.status == 504 && answer["Cache-Control"] == "no-store", "\(url)")
            let event = try await live.loggedRequest()
            #expect(event.level == .warning && event["code"] == "source_timeout")
        }
    }

    @Test func malformedRequestLine() async throws {
        let live = try await LiveServer.start()
        let answer = await (try RawClient(port: live.port)).exchange(
            "/_/plain/local:///\u{E4}.jpg",
            headers: ["Accept: application/json", "Connection: close"])
        #expect(answer.head.hasPrefix("HTTP/1.1 400"))
        #expect(answer.head.lowercased().contains("\r\ncache-control: no-store\r\n"))
        // Nothing of a request that cannot be read is believed, nor that it wants JSON.
        #expect(
            String(decoding: answer.body, as: UTF8.self) == "Bad request: Malformed request\n")
        let event = try await live.loggedRequest()
        #expect(event.level == .debug && event["code"] == "bad_request")
    }

    @Test func headersTooLarge() async throws {
        let live = try await LiveServer.start { $0.http.errorTTL = .seconds(7) }
        let answer = await (try RawClient(port: live.port)).exchange(
            "/_/plain/local:///china.jpg",
            headers: ["X-A: \(String(repeating: "a", count: 40_000))"])
        #expect(answer.head.hasPrefix("HTTP/1.1 431"))
        #expect(answer.head.lowercased().contains("\r\ncache-control: no-store\r\n"))
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.hasPrefix("Headers are too large: ") && text.contains("limits.maxHeaderBytes"))
        #expect(!live.log.events.contains { $0.level >= .info })
    }

    @Test(arguments: [
        "wrong": "oWaL7QoW5TsgbuiS9-5-DI8S3Ibbo1gdB2SteJh3a20", "malformed": "a=+/",
        "short": "oWaL",
        "text of the unsigned mode": "_",
    ])
    func signature(_ name: String, _ signature: String) async throws {
        let live = try await LiveServer.start {
            $0.signature.keys = ["736563726574"]
            $0.signature.salts = ["68656c6c6f"]
            $0.signature.isRequired = true
            $0.http.errorTTL = .seconds(7)
        }
        let answer = try await live.ask(
            "/\(signature)/plain/local:///china.jpg", fields: ["Accept": "application/json"])
        #expect(answer.status == 403 && answer["Cache-Control"] == "no-store")
        #expect(answer.text.contains("\"code\":\"forbidden\""))
        let event = try await live.loggedRequest()
        #expect(event.level == .info && event["code"] == "forbidden")
    }

    @Test func queueFull() async throws {
        let origin = try await OriginServer.start()
        let gate = Gate()
        origin.route("/a.png", .png(Self.picture).with(.wait(.gate(gate))))
        let live = try await LiveServer.start(origin) {
            $0.work.downloads = 1
            $0.work.queue = 0
            $0.http.errorTTL = .seconds(7)
        }
        async let first = live.ask("/_/plain/\(origin.url("/a.png"))")
        await origin.waitForRequests(1)
        let answer = try await live.ask(
            "/_/plain/\(origin.url("/b.png"))", fields: ["Accept": "application/json"])
        #expect(answer.status == 429 && answer["Cache-Control"] == "no-store")
        #expect(answer.text.contains("\"code\":\"busy\""))
        #expect(answer["Retry-After"].flatMap { Int($0) }.map { (1...30).contains($0) } == true)
        let events = await live.log.wait { $0.contains { $0["code"] == "busy" } }
        #expect(try #require(events.first { $0["code"] == "busy" }).level == .warning)
        gate.open()
        #expect(try await first.status == 200)
    }

    /// What the server itself lacks: its watermark.
    @Test func internalError() async throws {
        let origin = try await OriginServer.start()
        let live = try await LiveServer.start(origin) {
            $0.watermark.picture.url = origin.url("/none.png").absoluteString
            $0.http.errorTTL = .seconds(7)
        }
        let answer = try await live.ask(
            "/_/wm:1/plain/local:///china.jpg", fields: ["Accept": "application/json"])
        #expect(answer.status == 500 && answer["Cache-Control"] == "no-store")
        #expect(answer.text.contains("\"code\":\"internal\""))
        let event = try await live.loggedRequest()
        #expect(event.level == .error && event["code"] == "internal")
        #expect(event["cause"]?.isEmpty == false)
    }

    @Test func requestWithABody() async throws {
        let live = try await LiveServer.start()
        let answer = await (try RawClient(port: live.port)).exchange(
            "/_/plain/local:///china.jpg",
            headers: [
                "Accept: application/json", "Expect: 100-continue", "Content-Length: 3",
                "Connection: close",
            ])
        #expect(answer.head.hasPrefix("HTTP/1.1 417"), "\(answer.head)")
        #expect(
            String(decoding: answer.body, as: UTF8.self).contains("\"code\":\"expectation_failed\"")
        )
        try await live.expectCalm(warnings: 0)
    }

    @Test func methodNotAllowed() async throws {
        let live = try await LiveServer.start()
        let answer = try await live.ask("/_/plain/local:///china.jpg", method: "DELETE")
        #expect(answer.status == 405 && answer["Cache-Control"] == "no-store")
        let event = try await live.loggedRequest()
        #expect(event.level == .debug && event["code"] == "method_not_allowed")
    }

    @Test func bearerSecretWrong() async throws {
        let live = try await LiveServer.start { $0.secret = "open sesame" }
        let answer = try await live.ask("/_/plain/local:///china.jpg")
        #expect(answer.status == 403 && answer["Cache-Control"] == "no-store")
        let event = try await live.loggedRequest()
        #expect(event.level == .info && event["code"] == "forbidden")
    }

    @Test func ownDeadline() async throws {
        let origin = try await OriginServer.start()
        let gate = Gate()
        origin.route("/a.png", .png(Self.picture).with(.wait(.gate(gate))))
        let clock = ManualClock()
        let live = try await LiveServer.start(origin, time: clock.time)
        let target = "/_/plain/\(origin.url("/a.png").absoluteString)"
        async let late = live.ask(target, fields: ["Accept": "application/json"])
        await origin.waitForRequests(1)
        clock.advance(by: live.server.configuration.work.requestTimeout)
        let answer = try await late
        #expect(answer.status == 503 && answer["Cache-Control"] == "no-store")
        #expect(answer.text.contains("\"code\":\"deadline\""))
        #expect(answer["Retry-After"].flatMap { Int($0) }.map { (1...30).contains($0) } == true)
        let event = try await live.loggedRequest()
        #expect(event.level == .warning && event["code"] == "deadline")
        gate.open()
    }

    @Test func clientGone() async throws {
        let origin = try await OriginServer.start()
        let gate = Gate()
        origin.route("/a.png", .png(Self.picture).with(.wait(.gate(gate))))
        let live = try await LiveServer.start(origin)
        var client: RawClient? = try RawClient(port: live.port)
        let target = "/_/plain/\(origin.url("/a.png").absoluteString)"
        client?.send("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await origin.waitForRequests(1)
        client = nil
        await live.waitForClientsThatLeave(1)
        let event = try #require(live.log.events.first { $0.message == "request" })
        #expect(event.level == .debug && event["code"] == "client_gone")
        #expect(event["status"] == "499")
        gate.open()
    }
}

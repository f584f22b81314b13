import Foundation
import HalcyonHTTP
import HalcyonServer
import HalcyonTestKit
import Logging
import Testing

/// The table of what is answered when there is no picture: status, code, level of the log, and for how long
/// caches may keep it. Row by row, through the whole server.
@Suite struct StatusTableTests {
    private static let picture = PNGFixture.green

    enum Kept: String, Sendable {
        case no = "no-store"
        case errorTTL = "public, max-age=7"
        case negative = "public, max-age=5"
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// `{china}` stands for a sample, `{port}` for that of a server that has what the responses below say.
        let target: String
        let status: Int
        let code: String
        let level: Logger.Level
        let kept: Kept

        init(
            _ name: String, _ target: String, _ status: Int, _ code: String,
            _ level: Logger.Level = .info, _ kept: Kept = .errorTTL
        ) {
            testDescription = name
            self.target = target
            self.status = status
            self.code = code
            self.level = level
            self.kept = kept
        }

        static func source(
            _ name: String, _ source: String, _ status: Int, _ code: String,
            _ level: Logger.Level = .info, _ kept: Kept = .negative
        ) -> Row { Row(name, "/_/plain/" + source, status, code, level, kept) }

        /// One for a path of that server.
        static func origin(
            _ name: String, _ path: String, _ status: Int, _ code: String,
            _ level: Logger.Level = .info, _ kept: Kept = .negative
        ) -> Row { source(name, "http://127.0.0.1:{port}/\(path)", status, code, level, kept) }
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
    ]

    private static let unreachable = "source_unreachable"

    static let rows: [Row] = [
        Row("path without two parts", "/_", 404, "invalid_path"),
        Row("bad source text", "/_/plain/%ff", 404, "invalid_path"),
        Row("old grammar", "/_/fit/300/200/{china}", 404, "invalid_path"),
        Row("unknown option", "/_/nothing:1/{china}", 404, "invalid_option"),
        Row("wrong option", "/_/w:-1/{china}", 404, "invalid_option"),
        Row("option of the commercial version", "/_/br:1/{china}", 404, "unsupported_option"),
        Row("security option not allowed", "/_/msr:1000/{china}", 403, "option_forbidden"),
        Row("raw not allowed", "/_/raw:1/{china}", 403, "option_forbidden"),
        Row("signature missing", "/w:10/{china}", 403, "forbidden", .info, .no),
        Row("exp in the past", "/_/exp:1000000000/{china}", 404, "expired", .debug, .no),
        Row("IIIF region", "/iiif/3/china/1,2/max/0/default.jpg", 400, "iiif_region"),
        Row("IIIF size", "/iiif/3/china/full/full/0/default.jpg", 400, "iiif_size"),
        Row("IIIF rotation", "/iiif/3/china/full/max/361/default.jpg", 400, "iiif_rotation"),
        Row("IIIF quality", "/iiif/3/china/full/max/0/sepia.jpg", 400, "iiif_quality"),
        Row("IIIF format", "/iiif/3/china/full/max/0/default.pdf", 400, "iiif_format"),
        Row("IIIF identifier unknown", "/iiif/3/no/info.json", 404, "not_found", .info, .negative),
        Row("format cannot be written", "/_/{china}@ico", 422, "format_unsupported"),
        Row("SVG wanted of pixels", "/_/{china}@svg", 422, "format_unsupported"),
        .source(
            "not on the allow-list", "http://example.com/a.jpg", 404, "source_not_allowed", .warning
        ),
        .source("scheme unknown", "s3://bucket/a.jpg", 404, "unknown_scheme", .warning),
        .source(
            "refused by the guard", "http://127.0.0.2:{port}/a.png", 404, unreachable, .warning),
        .source(
            "host unknown", "http://none.invalid:{port}/a.png", 404, unreachable, .warning),
        .source(
            "connection refused", "http://127.0.0.1:{closed}/a.png", 404, unreachable, .warning),
        .source("TLS failed", "https://127.0.0.1:{port}/a.png", 404, unreachable, .warning),
        .origin("too many redirects", "loop", 404, unreachable, .warning),
        .origin("redirect refused", "ftp", 404, unreachable, .warning),
        .source("local file missing", "local:///no.jpg", 404, "source_not_found"),
        .source("local file refused", "local:///.hidden", 404, "source_not_found"),
        .origin("origin 401", "401", 401, "source_status"),
        .origin("origin 403", "403", 403, "source_status"),
        .origin("origin 404", "404", 404, "source_status"),
        .origin("origin 410", "410", 410, "source_status"),
        .origin("origin, other 4xx", "418", 418, "source_status"),
        .origin("origin 429", "429", 503, "source_busy", .warning, .no),
        .origin("origin 5xx", "500", 502, "source_status", .warning),
        .origin("body shorter than announced", "short", 422, "source_incomplete", .warning, .no),
        .origin("body too large", "large", 422, "source_too_large", .warning),
        .origin("HTML", "html", 422, "source_format"),
        .origin("empty body", "empty", 422, "source_format"),
        .source("unknown format", "local:///CREDITS.md", 422, "source_format"),
        .origin("too many pixels", "many", 422, "source_too_complex", .warning),
        .origin("too many pixels in all frames", "frames", 422, "source_too_complex", .warning),
        .origin("damaged picture", "damaged", 422, "source_damaged"),
        Row(
            "URL too long", "/_/plain/" + String(repeating: "a", count: 2000), 414, "too_long",
            .debug, .no),
    ]

    @Test(arguments: rows) func aFailureIsAnsweredAndLoggedAsTheTableSays(row: Row) async throws {
        let origin = try await OriginServer.start()
        let closed = try ClosedPort()
        for (path, response) in Self.responses { origin.route(path, response) }
        origin.route("/frames", .ok(try LiveServer.sample("kingfisher.gif")))
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["http://127.0.0.1:*"]
            if row.code != "source_not_allowed" { $0.sources.http.allow.append("*") }
            $0.sources.http.ports = [origin.port, closed.number]
            // Everything but this address, which is the origin's.
            $0.sources.http.allowAddresses = [try #require(IPNetwork("127.0.0.1/32"))]
            $0.limits.maxSourceBytes = 4 << 20
            $0.limits.maxPixels = 500_000
            $0.processing.svg = .sanitize
            $0.limits.maxURLLength = 1000
            $0.http.ttl = .seconds(1000)
            $0.http.errorTTL = .seconds(7)
            $0.serveIIIF()
        }
        let target = row.target.replacing("{china}", with: "plain/local:///china.jpg")
            .replacing("{port}", with: "\(origin.port)")
            .replacing("{closed}", with: "\(closed.number)")
        let answer = try await live.told(target)
        #expect(answer.status == row.status)
        #expect(answer.code == row.code, "\(answer.text)")
        answer.expect(["Cache-Control": row.kept.rawValue, "Content-Type": "application/json"])
        #expect(try answer.json["requestId"] as? String == answer["X-Request-ID"])
        #expect((answer["Retry-After"] != nil) == (row.status == 503))
        let event = try await live.loggedRequest()
        #expect(event.level == row.level)
        #expect(event["code"] == row.code && event["status"] == "\(row.status)")
        // Briefly, without what only the operator is to know.
        let plain = try await live.ask(target, fields: ["Accept": "text/plain"])
        #expect(plain.text.count { $0 == "\n" } == 1)
        let configuration = live.server.configuration
        let folders = [configuration.sources.local.root, configuration.cache.directory]
        for secret in ["127.0.0.1"] + folders.compactMap(\.self) {
            #expect(!plain.text.contains(secret))
        }
    }

    /// Where nobody takes connections any more, and what comes for ever but too slowly.
    @Test func originTooSlowToConnectOrInTotal() async throws {
        let origin = try await OriginServer.start()
        origin.route("/a.png", .drip(Self.picture + Data(count: 9999), every: .milliseconds(50)))
        let full = try FullPort()
        for url in [full.url("/a.png"), origin.url("/a.png")] {
            let live = try await LiveServer.start {
                $0.takeSources(of: origin)
                $0.sources.http.ports.append(full.number)
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

    /// What the server itself lacks: its watermark.
    @Test func internalError() async throws {
        let origin = try await OriginServer.start()
        let live = try await LiveServer.start(origin) {
            $0.watermark.picture.url = origin.url("/none.png").absoluteString
            $0.http.errorTTL = .seconds(7)
        }
        let answer = try await live.told(.china("wm:1"))
        #expect(answer.status == 500 && answer.code == "internal")
        #expect(answer["Cache-Control"] == "no-store")
        let event = try await live.loggedRequest()
        #expect(event.level == .error && event["code"] == "internal")
        #expect(event["cause"]?.isEmpty == false)
    }

    @Test func requestWithABody() async throws {
        let live = try await LiveServer.start()
        let client = try RawClient(port: live.port)
        let fields = "Accept: application/json\r\nExpect: 100-continue\r\nContent-Length: 3\r\n"
        client.send("GET \(String.china()) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
        let answer = await client.answer()
        #expect(answer?.status == 417)
        #expect(answer?.body.contains("\"code\":\"expectation_failed\"") == true)
        try await live.expectCalm(warnings: 0)
    }
}

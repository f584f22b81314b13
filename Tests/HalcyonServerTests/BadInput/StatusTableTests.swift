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
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["*"]
            $0.sources.http.allow.append("http://127.0.0.1:*")
            $0.sources.http.ports = [origin.port, closed.number]
            // Everything but this address, which is the origin's.
            $0.sources.http.allowAddresses = [try #require(IPNetwork("127.0.0.1/32"))]
            if row.code == "source_not_allowed" { $0.sources.http.allow = ["http://127.0.0.1:*"] }
            $0.limits.maxSourceBytes = 4 << 20
            $0.limits.maxPixels = 500_000
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
        let events = await live.log.wait { $0.contains { $0.message == "request" } }
        let event = try #require(events.first { $0.message == "request" })
        #expect(event.level == row.level)
        #expect(event["code"] == row.code)
        #expect(event["status"] == "\(row.status)")
        // Briefly, without what only the operator is to know.
        let plain = try await live.ask(target, fields: ["Accept": "text/plain"])
        #expect(plain.text.count { $0 == "\n" } == 1)
        #expect(!plain.text.contains("127.0.0.1") && !plain.text.contains("/work"))
    }

    @Test func originTooSlow() async throws {
        let origin = try await OriginServer.start()
        let gate = Gate()
        origin.route("/a.png", .png(Self.picture).with(.wait(.gate(gate))))
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["http://127.0.0.1:*"]
            $0.sources.http.ports = [origin.port]
            $0.sources.http.allowsLoopback = true
            $0.sources.http.stallTimeout = .milliseconds(200)
            $0.http.ttl = .seconds(1000)
        }
        let target = "/_/plain/\(origin.url("/a.png").absoluteString)"
        let answer = try await live.ask(target)
        #expect(answer.status == 504 && answer["Cache-Control"] == "no-store")
        let events = await live.log.wait { $0.contains { $0.message == "request" } }
        let event = try #require(events.first { $0.message == "request" })
        #expect(event.level == .warning && event["code"] == "source_timeout")
        gate.open()
    }

    @Test func methodNotAllowed() async throws {
        let live = try await LiveServer.start()
        let answer = try await live.ask("/_/plain/local:///china.jpg", method: "DELETE")
        #expect(answer.status == 405 && answer["Cache-Control"] == "no-store")
        let events = await live.log.wait { $0.contains { $0.message == "request" } }
        let event = try #require(events.first { $0.message == "request" })
        #expect(event.level == .debug && event["code"] == "method_not_allowed")
    }

    @Test func bearerSecretWrong() async throws {
        let live = try await LiveServer.start { $0.secret = "open sesame" }
        let answer = try await live.ask("/_/plain/local:///china.jpg")
        #expect(answer.status == 403 && answer["Cache-Control"] == "no-store")
        let events = await live.log.wait { $0.contains { $0.message == "request" } }
        let event = try #require(events.first { $0.message == "request" })
        #expect(event.level == .info && event["code"] == "forbidden")
    }

    @Test func ownDeadline() async throws {
        let origin = try await OriginServer.start()
        let gate = Gate()
        origin.route("/a.png", .png(Self.picture).with(.wait(.gate(gate))))
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["http://127.0.0.1:*"]
            $0.sources.http.ports = [origin.port]
            $0.sources.http.allowsLoopback = true
            $0.work.requestTimeout = .milliseconds(200)
        }
        let target = "/_/plain/\(origin.url("/a.png").absoluteString)"
        let answer = try await live.ask(target, fields: ["Accept": "application/json"])
        #expect(answer.status == 503 && answer["Cache-Control"] == "no-store")
        #expect(answer.text.contains("\"code\":\"deadline\""))
        #expect(answer["Retry-After"].flatMap { Int($0) }.map { (1...30).contains($0) } == true)
        let events = await live.log.wait { $0.contains { $0.message == "request" } }
        let event = try #require(events.first { $0.message == "request" })
        #expect(event.level == .warning && event["code"] == "deadline")
        gate.open()
    }

    @Test func clientGone() async throws {
        let origin = try await OriginServer.start()
        let gate = Gate()
        origin.route("/a.png", .png(Self.picture).with(.wait(.gate(gate))))
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["http://127.0.0.1:*"]
            $0.sources.http.ports = [origin.port]
            $0.sources.http.allowsLoopback = true
        }
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

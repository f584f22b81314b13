import HalcyonTestKit
import Logging
import Testing

@testable import HalcyonServer

/// What the log says of requests.
@Suite struct AccessLogTests {
    @Test(arguments: [
        "/_/plain/https://ada:geheim@example.com/a.jpg",
        "/_/plain/https%3A%2F%2Fada%3Ageheim%40example.com%2Fa.jpg",
        "/-/https://ada:geheim@example.com/a.jpg",
        "/_/plain/https://example.com/a.jpg%3Fw=1&session=geheim",
        "/_/plain/https://example.com/a.jpg?jwt=geheim",
        "/_/plain/https%3A%2F%2Fexample.com%2Fa.jpg%3Fpolicy%3Dgeheim%26hmac%3Dgeheim",
        "/_/plain/https://example.com/a.jpg?code=geheim%26geheim",
        "/info/_/plain/https://example.com/a.jpg%3FX-Amz-Credential=geheim",
        // Paths in which no source is found.
        "/a?token=geheim", "/?sid=geheim", "/_/w:1?X-Amz-Signature=geheim",
    ])
    func noSecretOfASourceIsInTheLog(target: String) async throws {
        let live = try await LiveServer.start {
            $0.sources.http.allow = ["https://img.example.com"]
        }
        #expect(try await live.ask(target).status == 404)
        let line = try await live.loggedRequest()
        #expect(!"\(line.metadata)".contains("geheim"), "\(line.metadata)")
        #expect(line["path"]?.contains("***") == true)
    }

    @Test func aPathOfIIIFHasNoSignatureToHide() async throws {
        let live = try await LiveServer.start { $0.serveIIIF() }
        #expect(try await live.ask("/iiif/3/china/info.json?token=geheim").status == 200)
        #expect(try await live.loggedRequest()["path"] == "/iiif/3/china/info.json?token=***")
    }

    @Test func theLogTellsWhereAPictureWasThatWasThere() async throws {
        let live = try await LiveServer.start()
        for _ in 0..<2 {
            let answer = try await live.ask(.china("w:20"))
            #expect(answer["Server-Timing"]?.contains("total;dur=") == true)
        }
        let requests = await live.loggedRequests(2)
        #expect(requests.map { $0["cache"] } == ["miss", "hit"])
        #expect(requests.map { $0["tier"] } == [nil, "memory"])
    }

    @Test func ofACrowdThatIsSentAwayOneLineASecondIsAWarning() {
        let sampling = LogSampling()
        let start = ContinuousClock.now
        let written = [0, 100, 999, 1000, 1500, 2100, 5000].map {
            sampling.take(at: start + .milliseconds($0))
        }
        #expect(written == [0, nil, nil, 2, nil, 1, 0])
    }

    @Test func whoIsSentAwayIsCountedAlsoWithoutALineOfWarning() async throws {
        let live = try await LiveServer.start {
            $0.work.decoders = 1
            $0.work.queue = 0
        }
        let place = try await live.server.gates.decoders.enter()
        for width in 1...5 { #expect(try await live.ask(.china("w:\(width)")).status == 429) }
        live.server.gates.decoders.leave(place)
        let events = await live.log.wait { $0.count { $0["code"] == "busy" } >= 5 }
            .filter { $0["code"] == "busy" }
        #expect(events[0].level == .warning)
        #expect(events.allSatisfy { $0.level == .warning || $0.level == .debug })
        #expect(try await live.metric("halcyon_rejected_total{reason=\"queue\"}") == 5)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n", 431, "too_long"),
        ("\u{1}\u{2}rubbish\r\n\r\n", 400, "bad_request"),
        // Nothing of a request that cannot be read is believed, nor that it wants JSON.
        (
            "GET /\u{E4} HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n", 400,
            "bad_request"
        ),
    ])
    func whatIsNoRequestIsAnsweredAndNotedAsAny(head: String, status: Int, code: String)
        async throws
    {
        let live = try await LiveServer.start()
        let client = try RawClient(port: live.port)
        client.send(head)
        let (bytes, _) = await client.read()
        let answer = String(decoding: bytes, as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        #expect(answer.hasSuffix("Bad request: Malformed request\n") == (status == 400))
        let line = try await live.loggedRequest()
        #expect(line.level == .debug && line["code"] == code)
        let id = try #require(line["id"])
        let fields = [
            "X-Request-ID: \(id)", "X-Content-Type-Options: nosniff", "Cache-Control: no-store",
            "Connection: close", "Server: halcyon", "Content-Security-Policy: sandbox;", "Date: ",
        ]
        for field in fields {
            #expect(answer.lowercased().contains("\r\n\(field.lowercased())"), "\(field)")
        }
        #expect(try await live.metric("halcyon_errors_total{code=\"\(code)\"}") == 1)
        let name = "halcyon_http_requests_total{route=\"other\",status=\"\(status)\"}"
        #expect(try await live.metric(name) == 1)
    }
}

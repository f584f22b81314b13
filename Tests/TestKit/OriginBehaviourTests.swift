import Foundation
import HalcyonTestKit
import NIOCore
import NIOHTTP1
import Testing

@Suite struct OriginBehaviourTests {
    private let payload = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    private let server: OriginServer

    init() async throws { server = try await OriginServer.start() }

    @Test func waitsForTheClockBeforeTheHeader() async throws {
        let clock = ManualClock()
        let server = try await OriginServer.start(clock: clock)
        server.route("/x", .status(204).with(.wait(.duration(.seconds(3)))))
        try await withClient { client in
            async let answer = client.get(server.url("/x"))
            await clock.waitForSleepers()
            #expect(clock.nextDeadline == ManualClock.Instant(offset: .seconds(3)))
            clock.advance(by: .seconds(3))
            let status = try await answer.status
            #expect(status == 204)
        }
        try await server.shutdown()
    }

    @Test func sendsChunksWithoutALength() async throws {
        server.route("/x", .ok(payload).with(.chunked, .slices(bytes: 1000)))
        try await withClient { client in
            let answer = try await client.get(server.url("/x"))
            #expect(answer.headers["transfer-encoding"] == ["chunked"])
            #expect(answer.headers["content-length"].isEmpty)
            #expect(answer.body == payload)
        }
    }

    @Test func sendsASliceForEachOpenedGate() async throws {
        let gates = (0..<3).map { _ in Gate() }
        server.route("/x", .ok(Data("aabbcc".utf8)).with(.slices(bytes: 2, pacing: .gates(gates))))
        let client = try RawClient(port: server.port)
        client.send("GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        for (gate, slice) in zip(gates, ["aa", "bb", "cc"]) {
            await gate.waitForWaiters()
            gate.open()
            let (bytes, error) = await client.read { $0.suffix(2) == Array(slice.utf8)[...] }
            #expect(error == 0)
            #expect(String(decoding: bytes, as: UTF8.self).hasSuffix(slice))
        }
    }

    @Test func dripsSlowly() async throws {
        let clock = ManualClock()
        let server = try await OriginServer.start(clock: clock)
        server.route("/x", .drip(Data("abc".utf8), every: .seconds(1)))
        try await withClient { client in
            async let answer = client.get(server.url("/x"))
            for _ in 0..<2 {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(1))
            }
            let text = try await answer.text
            #expect(text == "abc")
        }
        #expect(clock.now.offset == .seconds(2))
        try await server.shutdown()
    }

    @Test func holdsTheBodyAtAGate() async throws {
        let gate = Gate()
        server.route("/x", .ok(payload).with(.hold(afterBytes: 4321, .gate(gate))))
        let client = try RawClient(port: server.port)
        client.send("GET /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        await gate.waitForWaiters()
        #expect(server.concurrentRequestCount == 1)
        gate.open()
        let (bytes, _) = await client.read()
        #expect(Data(bytes.suffix(10_000)) == payload)
    }

    @Test func claimsMoreBytesThanItSends() async throws {
        server.route("/x", .ok(Data("short".utf8)).with(.declaredLength(100)))
        let answer = try await RawClient(port: server.port).exchange("/x")
        #expect(answer.head.contains("Content-Length: 100"))
        #expect(answer.body == Array("short".utf8))
        #expect(answer.error == 0)
        try await withClient { client in
            await #expect(throws: (any Error).self) { try await client.get(server.url("/x")) }
        }
    }

    @Test func claimsFewerBytesThanItSends() async throws {
        server.route("/x", .ok(Data("too long".utf8)).with(.declaredLength(3)))
        let answer = try await RawClient(port: server.port).exchange("/x")
        #expect(answer.head.contains("Content-Length: 3"))
        #expect(answer.body == Array("too long".utf8))
    }

    @Test(arguments: [false, true])
    func resetsTheConnectionInTheBody(slices: Bool) async throws {
        let response = OriginResponse.ok(payload).with(.breakOff(afterBytes: 1500, .reset))
        server.route("/x", slices ? response.with(.slices(bytes: 400)) : response)
        let answer = try await RawClient(port: server.port).exchange("/x")
        #expect(answer.error == ECONNRESET)
        #expect(answer.head.contains("Content-Length: 10000"))
        #expect(Data(answer.body) == payload.prefix(1500))
    }

    @Test func closesTheConnectionInTheBody() async throws {
        server.route("/x", .ok(payload).with(.breakOff(afterBytes: 0, .close)))
        let answer = try await RawClient(port: server.port).exchange("/x")
        #expect(answer.error == 0)
        #expect(answer.head.hasPrefix("HTTP/1.1 200"))
        #expect(answer.body.isEmpty)
    }

    @Test func endsTheConnectionWithoutAnAnswer() async throws {
        server.route("/close", .abort())
        server.route("/reset", .abort(.reset))
        let closed = try await RawClient(port: server.port).exchange("/close")
        #expect(closed.head.isEmpty)
        #expect(closed.error == 0)
        let reset = try await RawClient(port: server.port).exchange("/reset")
        #expect(reset.head.isEmpty)
        #expect(reset.error == ECONNRESET)
    }

    @Test func neverEndsUntilTheClientLeaves() async throws {
        server.route("/x", .endless(Data("0123456789".utf8)))
        var client: RawClient? = try RawClient(port: server.port)
        client?.send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        let read = await client?.read { $0.count > 1_000_000 }
        #expect(read?.error == 0)
        #expect(server.concurrentRequestCount == 1)
        client = nil
        await server.waitForAbandonedRequests(1)
    }

    @Test func repeatsAnEndlessBodyWithoutSeams() async throws {
        server.route(
            "/x",
            .endless(Data("abc".utf8)).with(
                .slices(bytes: 2), .chunked, .breakOff(afterBytes: 7, .close)))
        // Read from the socket: a client that is told of the break first may drop what came before it.
        let answer = try await RawClient(port: server.port).exchange("/x")
        let lines = String(decoding: answer.body, as: UTF8.self).components(separatedBy: "\r\n")
        #expect(lines == ["2", "ab", "2", "ca", "2", "bc", "1", "a", ""])
    }

    @Test func sendsGarbage() async throws {
        server.route("/x", .garbage(Data("SSH-2.0-x\r\n".utf8)))
        let answer = try await RawClient(port: server.port).exchange("/x")
        #expect(answer.head == "SSH-2.0-x\r\n")
    }

    @Test(arguments: ContentEncoding.allCases)
    func encodesTheBody(encoding: ContentEncoding) async throws {
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0) })
        server.route("/x", .ok(large).with(.encoded(encoding)))
        // What undoes the encoding is the real zlib.
        try await withClient { client in
            let answer = try await client.get(server.url("/x"))
            #expect(answer.body == large)
        }
        let raw = try await RawClient(port: server.port).exchange(
            "/x", headers: ["Connection: close"])
        #expect(raw.head.contains("Content-Encoding: \(encoding.rawValue)"))
        #expect(Data(raw.body) != large)
    }

    @Test func redirectsOnceAndInALoop() async throws {
        let server = try await OriginServer.start(files: ["/end": Data("end".utf8)])
        server.route("/start", .redirect(to: "/end", status: 307))
        server.routeRedirectLoop("/a", "/b")
        try await withClient(redirects: 5) { client in
            let text = try await client.get(server.url("/start")).text
            #expect(text == "end")
            await #expect(throws: TestClient.TooManyRedirects.self) {
                try await client.get(server.url("/a"))
            }
        }
        #expect(server.requestCount(for: "/a") == 3)
        #expect(server.requestCount(for: "/b") == 3)
        try await server.shutdown()
    }

    @Test func answers304WhenNothingChanged() async throws {
        let date = Date(timeIntervalSince1970: 784_111_777)
        server.route(
            "/x",
            .ok(payload).cacheControl("max-age=60").with(.entityTag("\"v1\""), .lastModified(date)))
        try await withClient { client in
            let first = try await client.get(server.url("/x"))
            #expect(first.status == 200)
            #expect(first.headers["etag"] == ["\"v1\""])
            #expect(first.headers["last-modified"] == ["Sun, 06 Nov 1994 08:49:37 GMT"])
            #expect(first.headers["cache-control"] == ["max-age=60"])
            let cases = [
                ("If-None-Match", "\"v1\"", 304), ("If-None-Match", "\"v0\", W/\"v1\"", 304),
                ("If-None-Match", "\"v2\"", 200), ("If-None-Match", "*", 304),
                ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT", 304),
                ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT", 200),
            ]
            for (name, value, status) in cases {
                let answer = try await client.get(server.url("/x"), headers: [(name, value)])
                #expect(answer.status == status, "\(name): \(value)")
                #expect(answer.body.isEmpty == (status == 304))
            }
        }
    }

    @Test func resumesAfterABreak() async throws {
        server.route(
            "/x",
            .ok(payload).with(
                .entityTag("\"v1\""), .ranges, .breakOff(afterBytes: 2500, .reset, times: 1)))
        let broken = try await RawClient(port: server.port).exchange("/x")
        #expect(broken.error == ECONNRESET)
        #expect(broken.body.count == 2500)
        try await withClient { client in
            let rest = try await client.get(
                server.url("/x"), headers: [("Range", "bytes=2500-"), ("If-Range", "\"v1\"")])
            #expect(rest.status == 206)
            #expect(rest.headers["content-range"] == ["bytes 2500-9999/10000"])
            #expect(Data(broken.body) + rest.body == payload)
            let changed = try await client.get(
                server.url("/x"), headers: [("Range", "bytes=2500-"), ("If-Range", "\"v0\"")])
            #expect(changed.status == 200)
            #expect(changed.body == payload)
            let beyond = try await client.get(
                server.url("/x"), headers: [("Range", "bytes=10000-")])
            #expect(beyond.status == 416)
            #expect(beyond.headers["content-range"] == ["bytes */10000"])
        }
    }

    @Test func asksForBasicCredentials() async throws {
        let credentials = Credentials(user: "ada", password: "l:ove")
        server.route("/x", .ok(payload).with(.basicAuthentication(credentials)))
        try await withClient { client in
            let denied = try await client.get(server.url("/x"))
            #expect(denied.status == 401)
            #expect(denied.headers["www-authenticate"] == ["Basic realm=\"halcyon\""])
            // base64 of "ada:l:ove"
            let granted = try await client.get(
                server.url("/x"), headers: [("Authorization", "Basic YWRhOmw6b3Zl")])
            #expect(granted.body == payload)
        }
    }
}

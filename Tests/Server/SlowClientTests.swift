import Dispatch
import Foundation
@testable import HalcyonServer
import HalcyonTestKit
import Testing

/// Clients that take their time for an answer, and those that go on sending.
@Suite struct SlowClientTests {
    private let folder: TemporaryDirectory
    private let size: Int
    private let request =
        "GET /_/raw:1/plain/local:///large.png HTTP/1.1\r\nHost: localhost\r\n\r\n"

    /// More than systems keep between two programs.
    init() throws {
        folder = try TemporaryDirectory()
        var picture = PNGFixture.solid(Pixel(1, 2, 3), width: 4, height: 4)
        picture.append(Data(count: 18 << 20))
        size = picture.count
        try folder.write(picture, to: "large.png")
    }

    private func start(_ change: LiveServer.Change = { _ in }) async throws -> LiveServer {
        try await LiveServer.start {
            $0.sources.local.root = folder.url.path
            $0.processing.allowsRaw = true
            try change(&$0)
        }
    }

    /// A client that has begun to read the large answer; with the bytes that it has.
    private func reader(_ live: LiveServer) async throws -> (client: RawClient, bytes: [UInt8]) {
        let client = try RawClient(port: live.port, receiveBuffer: 4096)
        client.send(request)
        let (bytes, error) = await client.read { $0.count > 1000 }
        #expect(error == 0)
        #expect(bytes.starts(with: "HTTP/1.1 200".utf8))
        return (client, bytes)
    }

    private func bodyCount(_ bytes: [UInt8]) throws -> Int {
        let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
        return bytes.count - end.upperBound
    }

    @Test func aSlowClientGetsAllOfItsAnswerFromAServerThatEnds() async throws {
        let live = try await start { $0.drain.timeout = .seconds(300) }
        let (client, first) = try await reader(live)
        async let hasEnded = live.listening.stop()
        await live.server.clients.wait { $0.isQuiescing }
        let (rest, error) = await client.read()
        #expect(error == 0)
        #expect(try bodyCount(first + rest) == size)
        #expect(await hasEnded)
    }

    @Test func aClientThatTakesTooLongForAServerThatEndsIsLeft() async throws {
        let live = try await start { $0.drain.timeout = .milliseconds(200) }
        let (client, first) = try await reader(live)
        #expect(await live.listening.stop() == false)
        let (rest, _) = await client.read()
        #expect(try bodyCount(first + rest) < size)
    }

    @Test func anAnswerMayTakeLongerThanAConnectionMayBeIdle() async throws {
        let live = try await start { $0.work.idleTimeout = .seconds(1) }
        let (client, first) = try await reader(live)
        try await live.waitForIdleEnds()
        let missing = try size - bodyCount(first)
        let (rest, error) = await client.read { $0.count >= missing }
        #expect(error == 0)
        #expect(rest.count == missing)
        // After that it may be idle as long as any other.
        let (end, _) = await client.read()
        #expect(end.isEmpty)
    }

    @Test func aConnectionIsUsedAgainAfterASlowAnswer() async throws {
        let live = try await start()
        let (client, first) = try await reader(live)
        let missing = try size - bodyCount(first)
        _ = await client.read { $0.count >= missing }
        #expect(await client.answer(to: "/live")?.body == "ok\n")
    }

    @Test func aClientThatTakesNothingOfAnAnswerIsLeft() async throws {
        let live = try await start { $0.work.writeTimeout = .milliseconds(300) }
        let (client, first) = try await reader(live)
        await live.server.clients.wait { $0.count == 0 }
        let (rest, _) = await client.read()
        #expect(try bodyCount(first + rest) < size)
    }

    @Test(arguments: [
        ("POST", "/_/raw:1/plain/local:///large.png", 405),
        ("GET", "/_/w:2/plain/local:///a.png", 404),
        ("GET", "/live", 200), ("PUT", "/nothing", 405),
    ])
    func aBodyWithoutEndIsNotReadForEver(method: String, path: String, status: Int) async throws {
        let live = try await start()
        let client = try RawClient(port: live.port)
        let head = ["\(method) \(path) HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked"]
        client.send(head.joined(separator: "\r\n") + "\r\n\r\n")
        let sender = DispatchQueue(label: "sender")
        sender.async {
            let chunk = "10000\r\n" + String(repeating: "a", count: 65536) + "\r\n"
            while client.send(chunk) {}
        }
        let answer = try #require(WireAnswer.all(in: await client.read().bytes).first)
        #expect(answer.status == status && answer.isLast && answer.body.hasSuffix("\n"))
        await withCheckedContinuation { done in sender.async { done.resume() } }
    }

    @Test func aClientMaySendAllOfItsBodyBeforeItTakesALargeAnswer() async throws {
        let live = try await start { $0.work.idleTimeout = .seconds(600) }
        let client = try RawClient(port: live.port, receiveBuffer: 4096)
        let count = 32 << 20
        let head = request.replacing("Host: ", with: "Content-Length: \(count)\r\nHost: ")
        let isSent = Locked(false)
        let sender = DispatchQueue(label: "sender")
        sender.async {
            client.send(head)
            isSent.set(client.send(String(repeating: "a", count: count)))
        }
        await withCheckedContinuation { done in sender.async { done.resume() } }
        #expect(isSent.value)
        let (bytes, error) = await client.read()
        #expect(error == 0)
        #expect(WireAnswer.all(in: bytes).count == 1)
    }

    @Test func aClientThatAsksOnAfterItsLastRequestDoesNotHoldTheConnection() async throws {
        let live = try await start { $0.work.idleTimeout = .seconds(300) }
        let client = try RawClient(port: live.port)
        let request = "GET /live HTTP/1.1\r\nHost: localhost\r\n"
        client.send("\(request)Connection: close\r\n\r\n\(request)\r\n")
        // The client does not end its side: the server has to.
        let (bytes, error) = await client.read()
        #expect(error == 0)
        #expect(String(decoding: bytes, as: UTF8.self).components(separatedBy: "200 OK").count == 2)
        #expect(await live.listening.stop())
    }

    @Test func requestsThatComeAllAtOnceAreAnsweredInTheirOrder() async throws {
        let live = try await LiveServer.start()
        let client = try RawClient(port: live.port)
        let targets = (1...200).map { "/_/w:\($0 % 7 + 1)/plain/local:///no-\($0).jpg" }
        let requests = targets.enumerated().map { number, target in
            "GET \(target) HTTP/1.1\r\nHost: localhost\r\nX-Request-ID: n\(number)\r\n\r\n"
        }
        client.send(requests.joined())
        client.finishSending()
        let (bytes, _) = await client.read()
        let text = String(decoding: bytes, as: UTF8.self)
        let numbers = text.matches(of: /X-Request-ID: n([0-9]+)/).compactMap { Int($0.1) }
        #expect(numbers == Array(0..<200))
    }

    @Test func aClientThatSendsManyRequestsAndLeavesIsForgotten() async throws {
        let live = try await LiveServer.start()
        var client: RawClient? = try RawClient(port: live.port)
        let request = "GET /_/w:9/plain/local:///china.jpg HTTP/1.1\r\nHost: localhost\r\n\r\n"
        client?.send(String(repeating: request, count: 1000))
        await live.server.clients.wait { $0.count == 1 }
        client = nil
        await live.server.clients.wait { $0.count == 0 }
        await live.server.metrics.inFlight.wait { $0 == 0 }
        #expect(try await live.ask(.china("w:9")).status == 200)
    }
}

import Foundation
import HalcyonTestKit
import NIOHTTP1
import Testing

@Suite struct OriginServerTests {
    private let server: OriginServer

    init() async throws { server = try await OriginServer.start() }

    @Test func answersARouteAndRecordsTheRequest() async throws {
        let server = try await OriginServer.start(files: ["/a.png": Data([1, 2, 3])])
        try await withClient { client in
            let answer = try await client.get(
                server.url("/a.png?size=2"), headers: [("X-Test", "yes")])
            #expect(answer.status == 200)
            #expect(answer.body == Data([1, 2, 3]))
            #expect(answer.headers["content-type"] == ["image/png"])
            #expect(answer.headers["content-length"] == ["3"])
        }
        let request = try #require(server.requests.first)
        #expect(request.method == "GET")
        #expect(request.path == "/a.png")
        #expect(request.query == "size=2")
        #expect(request.headers["x-test"] == "yes")
        #expect(request.httpVersion == "1.1")
        #expect(request.connectionID == 1)
        try await server.shutdown()
    }

    @Test func answers404WhereThereIsNoRoute() async throws {
        try await withClient { client in
            let status = try await client.get(server.url("/nothing")).status
            #expect(status == 404)
        }
    }

    @Test func replacesARouteWhileItRuns() async throws {
        try await withClient { client in
            server.route("/x", .status(500))
            let status = try await client.get(server.url("/x"))
            server.route("/x", .html("<p>hello"))
            let page = try await client.get(server.url("/x"))
            server.route("/x") { .ok(Data($0.method.utf8)) }
            let handled = try await client.get(server.url("/x"))
            #expect(status.status == 500)
            #expect(page.text == "<p>hello")
            #expect(handled.text == "GET")
        }
    }

    @Test func prefersTheRouteThatNamesTheQuery() async throws {
        server.route("/a b.png", .status(201))
        server.route("/a b.png?x=1", .status(202))
        try await withClient { client in
            for (query, status) in [("", 201), ("?x=2", 201), ("?x=1", 202)] {
                let answer = try await client.get(server.url("/a%20b.png" + query))
                #expect(answer.status == status, "\(query)")
            }
        }
    }

    @Test func givesTheResponsesOfASequenceInOrder() async throws {
        server.route("/x", sequence: [.status(503), .status(500), .empty])
        try await withClient { client in
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await client.get(server.url("/x")).status) }
            #expect(statuses == [503, 500, 200, 200])
        }
    }

    @Test func countsTwoHundredParallelRequests() async throws {
        let gate = Gate()
        for index in 0..<4 {
            server.route("/\(index)", .ok(Data([UInt8(index)])).with(.wait(.gate(gate))))
        }
        try await withClient(connections: 200) { client in
            try await withThrowingTaskGroup(of: Data.self) { group in
                for index in 0..<200 {
                    group.addTask { try await client.get(server.url("/\(index % 4)")).body }
                }
                await server.waitForRequests(200)
                #expect(server.concurrentRequestCount == 200)
                gate.open()
                var sum = 0
                for try await body in group { sum += Int(body[0]) }
                #expect(sum == 50 * (0 + 1 + 2 + 3))
            }
        }
        #expect(server.requestCount == 200)
        #expect((0..<4).allSatisfy { server.requestCount(for: "/\($0)") == 50 })
        #expect(server.peakConcurrentRequests == 200)
        #expect(server.peakConnections == 200)
        #expect(server.concurrentRequestCount == 0)
        await server.waitForConnections(atMost: 0)
        #expect(server.openConnectionCount == 0)
    }

    @Test func keepsTheConnectionAlive() async throws {
        let server = try await OriginServer.start(files: ["/a": Data("a".utf8)])
        try await withClient { client in
            for _ in 0..<5 { _ = try await client.get(server.url("/a")) }
        }
        #expect(server.connectionCount == 1)
        #expect(Set(server.requests.map(\.connectionID)) == [1])
        try await server.shutdown()
    }

    @Test func answersPipelinedRequestsInOrder() async throws {
        let gate = Gate()
        server.route("/slow", .ok(Data("slow".utf8)).with(.wait(.gate(gate)), .chunked))
        server.route("/fast", .ok(Data("fast".utf8)))
        let client = try RawClient(port: server.port)
        client.send(
            "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"
                + "GET /fast HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        await server.waitForRequests(1)
        gate.open()
        let text = String(decoding: await client.read().bytes, as: UTF8.self)
        let slow = try #require(text.range(of: "slow"))
        let fast = try #require(text.range(of: "fast"))
        #expect(slow.upperBound < fast.lowerBound)
        #expect(server.requests.map(\.path) == ["/slow", "/fast"])
    }

    @Test func answersHEADWithTheHeaderOfGET() async throws {
        server.route("/a", .ok(Data(count: 42)).with(.chunked))
        let client = try RawClient(port: server.port)
        let answer = await client.exchange("/a", method: "HEAD", headers: ["Connection: close"])
        #expect(answer.head.hasPrefix("HTTP/1.1 200"))
        #expect(answer.head.lowercased().contains("content-length: 42"))
        #expect(answer.body.isEmpty)
    }

    @Test func recordsTheBodyOfARequest() async throws {
        server.route("/up") { .ok($0.body) }
        let sent = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        try await withClient { client in
            let answer = try await client.get(server.url("/up"), method: "POST", body: sent)
            #expect(answer.body == sent)
        }
        #expect(server.requests.first?.method == "POST")
    }

    @Test func shutsDownWhileAResponseWaits() async throws {
        server.route("/x", .empty.with(.wait(.gate(Gate()))))
        let client = try RawClient(port: server.port)
        client.send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        await server.waitForRequests(1)
        try await server.shutdown()
        let (bytes, _) = await client.read()
        #expect(bytes.isEmpty)
    }

    @Test func noticesAClientThatLeaves() async throws {
        server.route("/x", .empty.with(.wait(.gate(Gate()))))
        var client: RawClient? = try RawClient(port: server.port)
        client?.send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
        await server.waitForRequests(1)
        client = nil
        await server.waitForAbandonedRequests(1)
        await server.waitForConnections(atMost: 0)
        #expect(server.abandonedRequestCount == 1)
    }

    @Test func stopsWhenTheLastReferenceGoes() async throws {
        var server: OriginServer? = try await OriginServer.start()
        let port = try #require(server?.port)
        let client = try RawClient(port: port)
        await server?.waitForConnectionCount(1)
        server = nil
        #expect(await client.read().bytes.isEmpty)
    }
}

import Foundation
import HalcyonTestKit
import Testing

/// Faults of the server that tests which use it would not notice: wrong counts, and misbehaviour that is none.
@Suite struct OriginServerTests {
    private let payload = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0) })
    private let server: OriginServer

    init() async throws { server = try await OriginServer.start() }

    @Test func countsRequestsAndConnectionsAtOneTime() async throws {
        let gate = Gate()
        for path in ["/0", "/1"] { server.route(path, .empty.with(.wait(.gate(gate)))) }
        do {
            let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
            for (index, client) in clients.enumerated() {
                client.send("GET /\(index % 2) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            }
            await server.waitForRequests(20)
            gate.open()
            for client in clients { #expect(await client.read().error == 0) }
        }
        await server.waitForConnections(atMost: 0)
        #expect(server.requestCount == 20 && server.requestCount(for: "/1") == 10)
        #expect(server.connectionCount == 20 && server.peakConnections == 20)
        #expect(server.peakConcurrentRequests == 20 && server.abandonedRequestCount == 0)
        let client = try RawClient(port: server.port)
        for number in 1...3 {
            client.send("GET /0 HTTP/1.1\r\nHost: x\r\n\r\n")
            await server.waitForRequests(20 + number)
            #expect(await client.read { $0.suffix(4) == Array("\r\n\r\n".utf8)[...] }.error == 0)
        }
        #expect(server.connectionCount == 21, "it is kept")
        #expect(server.peakConcurrentRequests == 20)
    }

    @Test(arguments: ContentEncoding.allCases)
    func encodesTheBody(encoding: ContentEncoding) async throws {
        server.route("/x", .ok(payload).with(.encoded(encoding)))
        let answer = try await RawClient(port: server.port).exchange(
            "/x", headers: ["Connection: close"])
        #expect(answer.head.contains("Content-Encoding: \(encoding.rawValue)"))
        #expect(answer.body == encoding.packed(Array(payload)) && Data(answer.body) != payload)
    }

    @Test(arguments: [(Abort.close, Int32(0)), (.reset, ECONNRESET)])
    func endsTheConnectionAsItIsTold(how: Abort, error: Int32) async throws {
        server.route("/none", .abort(how))
        server.route("/whole", .ok(payload).with(.breakOff(afterBytes: 1500, how)))
        server.route(
            "/slices", .ok(payload).with(.breakOff(afterBytes: 1500, how), .slices(bytes: 400)))
        let none = try await RawClient(port: server.port).exchange("/none")
        #expect(none.head.isEmpty && none.error == error)
        for path in ["/whole", "/slices"] {
            let answer = try await RawClient(port: server.port).exchange(path)
            #expect(answer.error == error && answer.head.contains("Content-Length: 200000"))
            #expect(Data(answer.body) == payload.prefix(1500))
        }
    }
}

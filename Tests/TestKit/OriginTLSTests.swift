import Foundation
import HalcyonTestKit
import NIOHTTP1
import Testing

@Suite struct OriginTLSTests {
    private let payload = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) })

    @Test func negotiatesHTTP2() async throws {
        let server = try await OriginServer.start(tls: true, files: ["/a.gif": payload])
        #expect(server.baseURL.scheme == "https")
        #expect(server.baseURL.host == "localhost")
        try await withClient { client in
            try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await client.get(server.url("/a.gif")) }
                }
                for try await answer in group {
                    #expect(answer.version == "HTTP/2")
                    #expect(answer.body == payload)
                }
            }
        }
        #expect(server.requests.allSatisfy { $0.httpVersion == "2" })
        #expect(server.requestCount(for: "/a.gif") == 20)
        #expect(server.connectionCount == 1)
        try await server.shutdown()
    }

    @Test func speaksHTTP1OverTLS() async throws {
        let tls = OriginTLS(protocols: ["http/1.1"])
        let server = try await OriginServer.start(tls: tls, files: ["/a": payload])
        try await withClient { client in
            let answer = try await client.get(server.url("/a"))
            #expect(answer.version == "HTTP/1.1")
            #expect(answer.body == payload)
        }
        #expect(server.requests.map(\.httpVersion) == ["1.1"])
        try await server.shutdown()
    }

    @Test func resetsOneStreamAndKeepsTheConnection() async throws {
        let server = try await OriginServer.start(tls: true, files: ["/good": payload])
        server.route("/bad", .ok(payload).with(.breakOff(afterBytes: 1000, .reset)))
        server.route("/none", .abort())
        try await withClient { client in
            for path in ["/bad", "/none"] {
                await #expect(throws: (any Error).self) { try await client.get(server.url(path)) }
            }
            let body = try await client.get(server.url("/good")).body
            #expect(body == payload)
        }
        #expect(server.connectionCount == 1)
        try await server.shutdown()
    }

    @Test func waitsAtAGateOnAStream() async throws {
        let server = try await OriginServer.start(tls: true)
        let gate = Gate()
        server.route("/x", .ok(payload).with(.chunked, .hold(afterBytes: 100, .gate(gate))))
        try await withClient { client in
            async let answer = client.get(server.url("/x"))
            await gate.waitForWaiters()
            gate.open()
            let body = try await answer.body
            #expect(body == payload)
        }
        try await server.shutdown()
    }

    @Test(arguments: [TestCertificate.wrongHost, .expired])
    func showsABadCertificate(certificate: TestCertificate) async throws {
        let server = try await OriginServer.start(
            tls: OriginTLS(certificate: certificate), files: ["/a": payload])
        try await withClient(trusting: [certificate]) { client in
            await #expect(throws: (any Error).self) { try await client.get(server.url("/a")) }
        }
        #expect(server.requestCount == 0)
        try await server.shutdown()
    }

    @Test func isNotTrustedByAStranger() async throws {
        let server = try await OriginServer.start(tls: true, files: ["/a": payload])
        try await withClient(trusting: [.wrongHost]) { client in
            await #expect(throws: (any Error).self) { try await client.get(server.url("/a")) }
        }
        #expect(server.requestCount == 0)
        try await server.shutdown()
    }

    @Test func letsOnlyTheKnownClientIn() async throws {
        let server = try await OriginServer.start(
            tls: OriginTLS(clientCertificate: .client), files: ["/a": payload])
        try await withClient(identity: .client) { client in
            let status = try await client.get(server.url("/a")).status
            #expect(status == 200)
        }
        for identity in [nil, TestCertificate.wrongHost] {
            try await withClient(identity: identity) { client in
                await #expect(throws: (any Error).self) { try await client.get(server.url("/a")) }
            }
        }
        #expect(server.requestCount == 1)
        try await server.shutdown()
    }
}

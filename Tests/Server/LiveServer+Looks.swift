import Foundation
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
import HalcyonWork
import Testing

extension LiveServer {
    /// The sum of the values of a metric, of all whose names and labels begin so.
    func metric(_ name: String) async throws -> Int {
        let lines = try await ask("/metrics", operations: true).text.split(separator: "\n")
        return lines.filter { $0.hasPrefix(name) }
            .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
    }

    /// How often something has become of work that only one server of several does.
    func leases(_ event: String) async throws -> Int {
        try await metric("halcyon_leases_total{event=\"\(event)\"}")
    }

    /// Waits until that has happened so often.
    func wait(forLeases event: String, _ count: Int) async {
        await server.metrics.leases.wait([event]) { $0 >= Double(count) }
    }

    /// Purges a source of another server here and at all servers that share a Redis with this one; returns whether
    /// all were told.
    func forget(source: String) async throws -> Bool {
        let purger = server.stores.purger
        return await purger.forget(try purger.purges(ofSource: source).map { $0.purge })
            .allSatisfy { $0.isTold ?? true }
    }

    /// Waits until all servers but the one that asks a source's server wait for it.
    static func waitForWaiters(_ servers: [LiveServer]) async {
        for live in servers where live.server.metrics.leases.value(["acquired"]) == 0 {
            await live.wait(forLeases: "waited", 1)
        }
    }

    /// The answer to a client that takes JSON.
    func told(_ target: String) async throws -> Answer {
        try await ask(target, fields: ["Accept": "application/json"])
    }

    /// Its status and the code of the failure.
    func outcome(_ target: String) async throws -> String {
        let answer = try await told(target)
        return "\(answer.status) \(answer.code)"
    }

    /// What a purge reports that is ordered in JSON.
    func purge(_ order: String, _ location: SourceLocation = #_sourceLocation) async throws
        -> String
    {
        let answer = try await ask(
            "/purge", method: "POST", body: Data(order.utf8), operations: true)
        #expect(answer.status == 200, "\(answer.text)", sourceLocation: location)
        return answer.text
    }

    /// The same of an order with one field, such as `source`, `prefix` or `url`.
    func purge(_ field: String, _ value: String) async throws -> String {
        try await purge("{\"\(field)\":\"\(value)\"}")
    }

    /// Has this server have the source at `url` still after a purge at another one, as if it had not heard of it.
    func keepSource(_ url: URL, afterPurgeAt other: LiveServer) async throws {
        let known = try #require(server.stores.sources.remote?.known)
        let source = try #require(known.inMemory(RemoteSource.key(of: url)))
        #expect(try await other.purge("source", url.absoluteString).contains("\"told\":true"))
        await server.stores.sources.purges.heard.wait { $0 >= 1 }
        let fetch = SourceFetch(url, source.key, limit: .max, asker: SourceAsker())
        known.begin(fetch)
        #expect(known.remember(source, of: fetch))
        known.end(fetch)
    }
}

extension LiveServer.Answer {
    /// Expects a status and fields; `nil` stands for one that must not be there.
    func expect(
        _ status: Int, _ fields: KeyValuePairs<String, String?>,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status, "\(text.prefix(300))", sourceLocation: location)
        expect(fields, location)
    }

    func expect(
        _ fields: KeyValuePairs<String, String?>, _ location: SourceLocation = #_sourceLocation
    ) {
        for (name, value) in fields {
            #expect(self[name] == value, "\(name)", sourceLocation: location)
        }
    }

    /// Whether `Cache-Status` ends with this, such as where a picture was.
    func hasDetail(_ detail: String) -> Bool {
        self["Cache-Status"]?.hasSuffix("detail=\(detail)") == true
    }

    /// That of the failure, in an answer for clients that take JSON.
    var code: String { text.firstMatch(of: /"code":"([a-z_]+)"/).map { String($0.1) } ?? "" }

    var json: [String: Any] {
        get throws {
            try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any], "\(text)")
        }
    }

    /// The size of the picture; an answer without one is an issue.
    var pixelSize: PixelSize {
        get throws {
            try #require(status == 200, "\(text)")
            return try Image.decoding(body).pixelSize
        }
    }
}

/// The samples of the first pixel of a picture that was answered.
func color(_ answer: LiveServer.Answer) throws -> [UInt8] {
    #expect(answer.status == 200, "\(answer.text)")
    return Array(try Image.decoding(answer.body).bitmap().data.prefix(3))
}

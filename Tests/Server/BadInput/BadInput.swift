import Foundation
@testable import HalcyonServer
import HalcyonTestKit
import Logging
import Testing

/// One row of a table of bad input, which its test is named after.
struct BadInput<Value: Sendable>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let value: Value
    let statuses: Set<Int>

    init(_ name: String, _ value: Value, _ statuses: Int...) {
        testDescription = name
        self.value = value
        self.statuses = Set(statuses)
    }
}

extension LiveServer {
    /// How many files this process may have open.
    static var descriptors: Int {
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        return Int(clamping: limit.rlim_cur)
    }

    /// Sends a head as it is, and reads until the connection ends, for which the head should ask.
    ///
    /// - Returns: The status; 0 for a connection that was ended without an answer.
    func status(ofRequest head: [UInt8]) async throws -> Int {
        let client = try RawClient(port: port)
        client.send(head)
        return WireAnswer.all(in: await client.read().bytes).first?.status ?? 0
    }

    /// The same of a GET for a target that no client would send so.
    func status(ofTarget target: String, fields: [String] = []) async throws -> Int {
        let lines = ["GET \(target) HTTP/1.1", "Host: localhost", "Connection: close"] + fields
        return try await status(
            ofRequest: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
    }

    /// Whether nothing is left of what came: no place is taken, nothing waits, and at most one line of the
    /// log was worth a warning.
    func expectCalm(warnings: Int = 1, _ location: SourceLocation = #_sourceLocation) async throws {
        await server.metrics.inFlight.wait { $0 == 0 }
        #expect(try await ask("/ready", operations: true).status == 200, sourceLocation: location)
        let metrics = try await ask("/metrics", operations: true).text
        let places = metrics.matches(of: /\nhalcyon_gate_(?:in_use|waiting)\{[^}]*\} ([0-9.e+]+)/)
        #expect(!places.isEmpty, sourceLocation: location)
        #expect(places.allSatisfy { Double($0.1) == 0 }, sourceLocation: location)
        let loud = log.events.filter { $0.level >= .warning }
        #expect(loud.count <= warnings, "\(loud.map(\.message))", sourceLocation: location)
    }
}

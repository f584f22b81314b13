import Halcyon
import HalcyonPixels
@testable import HalcyonServer
import HalcyonTestKit
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
        await server.metrics.leases.until([event]) { $0 >= Double(count) }
    }
}

/// The samples of the first pixel of a picture that was answered.
func color(_ answer: LiveServer.Answer) throws -> [UInt8] {
    #expect(answer.status == 200, "\(answer.text)")
    return Array(try Image.decoding(answer.body).bitmap().data.prefix(3))
}

import Foundation
import FoundationNetworking
import HalcyonTestKit

@testable import Halcyon

/// A fake network that answers as a schedule says.
final class ScheduledOrigin: Sendable {
    /// What is still to be answered for one URL.
    struct Plan: Sendable {
        var picture: Data
        var exchanges: [Schedule.Exchange]
        var gates: [Gate]
    }

    private let plans = Locked<[URL: Plan]>([:])
    private let running = Locked(0)

    /// Exchanges under way.
    var runningCount: Int { running.value }

    var transport: ScriptedTransport {
        ScriptedTransport { request, exchange in try await self.serve(request, exchange) }
    }

    func plan(_ url: URL, _ plan: Plan?) {
        plans.withLock { $0[url] = plan }
    }

    private func serve(_ request: URLRequest, _ exchange: ScriptedExchange) async throws {
        running.withLock { $0 += 1 }
        defer { running.withLock { $0 -= 1 } }
        guard let url = request.url else { return }
        let (planned, picture, gate) = plans.withLock { plans in
            let isPlanned = plans[url]?.exchanges.isEmpty == false
            let planned = isPlanned ? plans[url]?.exchanges.removeFirst() : nil
            let gate = planned?.gate.flatMap { plans[url]?.gates[$0] }
            return (planned, plans[url]?.picture ?? Data(), gate)
        }
        try await gate?.wait()
        switch planned?.answer ?? .image {
        case .image: try await exchange.answer(picture)
        case .page: try await exchange.answer(Data("<html>busy</html>".utf8))
        case .unavailable: try await exchange.answer(Data(), status: 503)
        case .reset:
            throw ImageTransportError.connectionReset(url: url.absoluteString, reason: "planned")
        case .cutShort:
            try await exchange.respond(headers: ["Content-Length": "\(picture.count)"])
            await Task.yield()
            try exchange.send(picture.prefix(picture.count / 2))
            throw ImageTransportError.incompleteBody(
                url: url.absoluteString, received: Int64(picture.count / 2),
                expected: Int64(picture.count))
        }
    }
}

/// Gives its bytes when a gate opens.
struct ScheduledProvider: ImageDataProvider {
    let cacheKey: String
    let bytes: Data
    let gate: Gate?
    let heedsCancellation: Bool

    func data() async throws -> Data {
        if heedsCancellation {
            try await gate?.wait()
        } else {
            // A task that nobody cancels.
            try await Task.detached { try await gate?.wait() }.value
        }
        return bytes
    }
}

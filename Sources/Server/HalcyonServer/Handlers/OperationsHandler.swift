import Foundation
import HalcyonHTTP
import HalcyonServerURLs
import NIOCore
import NIOFoundationCompat

/// Answers whether the process is alive, or accepts requests: `/live`, `/ready`, `/health`.
struct HealthHandler: Sendable {
    let state: ServerState
    let codecs: CodecCheck

    /// Returns `nil` for other paths.
    func answer(_ request: ServerRequest, tellsReason: Bool = false) -> ServerAnswer? {
        guard request.isRead else { return nil }
        switch request.path {
        case "/live":
            return .text(200, "ok\n")
        case "/ready", "/health":
            let phase = state.phase
            let reasons =
                (phase == .ready ? [] : [phase.rawValue]) + (codecs.fault.map { [$0] } ?? [])
            if reasons.isEmpty { return .text(200, "ok\n") }
            guard tellsReason else { return .text(503, "not ready\n") }
            let words = reasons.map { "\"\($0)\"" }.joined(separator: ",")
            return .text(503, "{\"reasons\":[\(words)]}\n", type: "application/json")
        default:
            return nil
        }
    }
}

/// Answers requests to operate the server: metrics, the caches, purges, warming.
struct OperationsHandler: Sendable {
    let health: HealthHandler
    let metrics: MetricsReport
    let purges: PurgeHandler
    let warming: WarmHandler
    let errors: ErrorAnswers
    let fields: CommonFields
    /// The bearer token that requests have to carry, if any.
    let token: String?
    /// Whether only programs of this machine can connect to the operations address.
    let isLoopback: Bool

    @Sendable func answerAtOwnAddress(_ request: ServerRequest) async -> ServerAnswer {
        var answer: ServerAnswer
        if let known = health.answer(request, tellsReason: true) {
            answer = known
        } else if let known = await self.answer(request) {
            answer = known
        } else {
            answer = errors.answer(.nothingThere, to: request)
        }
        fields.complete(&answer, for: request)
        return answer
    }

    /// Answers with metrics or about the caches; `nil` for other paths.
    func answer(_ request: ServerRequest) async -> ServerAnswer? {
        let path = request.path
        let isOfMetrics = path == "/metrics" && request.isRead
        guard isOfMetrics || path == "/purge" || path == "/cache" || path.hasPrefix("/warm") else {
            return nil
        }
        do throws(Failure) {
            // At their own address, metrics are there for all who can connect.
            if !isOfMetrics || request.routes.contains(.operations) { try checkOperator(request) }
            switch (request.method, path) {
            case _ where isOfMetrics:
                return .text(
                    200, await metrics.text(), type: "text/plain; version=0.0.4; charset=utf-8")
            case ("POST", "/purge"): return try await purges.answer(request)
            case ("POST", "/warm"): return try await warming.answer(request)
            case ("GET", _) where path.hasPrefix("/warm/"):
                return try warming.progress(of: path.dropFirst(6))
            case ("GET", "/cache"): return try .json(await metrics.caches.numbers())
            case (_, "/purge"), (_, "/warm"), (_, "/cache"):
                throw Failure(.methodNotAllowed, "\(request.method) does nothing at \(path)")
            default:
                throw Failure.nothingThere
            }
        } catch {
            return errors.answer(error, to: request, explaining: !isOfMetrics)
        }
    }

    /// Without a token, only programs of this machine are accepted, but not pages in its browsers,
    /// and no requests through an embedding application.
    private func checkOperator(_ request: ServerRequest) throws(Failure) {
        guard let token else {
            guard isLoopback, !request.routes.contains(.operations) else {
                throw Failure.nothingThere
            }
            guard !request.fields.contains("Origin"), !request.fields.contains("Sec-Fetch-Site")
            else { throw Failure(.forbidden, "Pages of browsers may order nothing here") }
            return
        }
        guard request.bears(token) else {
            throw Failure(.forbidden, "The bearer token is missing or wrong")
        }
    }
}

extension ServerRequest {
    func order<Order: Decodable>(limit: Int) async throws(Failure) -> Order {
        let body = try await body(limit)
        do {
            return try JSONDecoder().decode(Order.self, from: Data(buffer: body))
        } catch {
            throw Failure(.badRequest, "The body is not the JSON that is wanted here")
        }
    }
}

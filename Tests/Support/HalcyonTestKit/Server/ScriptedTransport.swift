package import Foundation
package import FoundationNetworking
package import HalcyonHTTP

/// A network whose every exchange goes as a test says.
package struct ScriptedTransport: HTTPTransport {
    package let requests = Recorder<URLRequest>()
    private let script: @Sendable (URLRequest, ScriptedExchange) async throws -> Void

    package init(_ script: @escaping @Sendable (URLRequest, ScriptedExchange) async throws -> Void)
    {
        self.script = script
    }

    /// Answers every request with 200 and these bytes, once `gate` is open if there is one.
    package init(body: Data, after gate: Gate? = nil) {
        self.init { _, exchange in
            try await gate?.wait()
            try await exchange.answer(body)
        }
    }

    package func perform(
        _ request: URLRequest, terms: ExchangeTerms,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ExchangeTimes? {
        requests.record(request)
        let exchange = ScriptedExchange(request: request, onResponse: onResponse, onBody: onBody)
        try await script(request, exchange)
        return nil
    }
}

/// One exchange of a scripted transport.
package struct ScriptedExchange: Sendable {
    package let request: URLRequest
    package let onResponse: @Sendable (AnswerHead) async throws -> BodyDisposition
    package let onBody: @Sendable (UnsafeRawBufferPointer) throws -> Void

    /// Sends a header.
    @discardableResult
    package func respond(_ status: Int = 200, headers: [String: String] = [:]) async throws
        -> BodyDisposition
    {
        try await onResponse(
            AnswerHead(
                url: request.url!, status: status,
                fields: HTTPFields(headers.map { .init(name: $0.key, value: $0.value) })))
    }

    /// Sends a piece of the body.
    package func send(_ data: Data) throws {
        try data.withUnsafeBytes(onBody)
    }

    /// Sends a whole answer.
    package func answer(_ body: Data, status: Int = 200) async throws {
        let headers = ["Content-Length": "\(body.count)"]
        if try await respond(status, headers: headers) == .receive { try send(body) }
    }
}

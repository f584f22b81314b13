public import Foundation
import FoundationNetworking
import HalcyonHTTP
import Synchronization

/// Orders to a running server at its operations address: purges and warming.
public struct ServerOperations: Sendable {
    private let address: ListenAddress
    private let token: String?

    /// - Parameters:
    ///   - host: That of the server's `ops.bind`, which must not be a socket of the file system.
    ///   - port: The port there.
    ///   - token: Its `ops.token`.
    public init(host: String, port: Int, token: String?) {
        address = .tcp(host: host, port: port)
        self.token = token
    }

    /// An order was not taken.
    public struct Refusal: Error, CustomStringConvertible {
        /// What the server, or the system, says of it.
        public let description: String
    }

    /// Gives an order.
    ///
    /// - Parameters:
    ///   - path: `/purge`, `/warm`, `/warm/ID` or `/cache`.
    ///   - json: What is ordered; `nil` to ask.
    /// - Returns: The answer, as JSON.
    /// - Throws: `Refusal`.
    public func order(_ path: String, json: Data? = nil) async throws(Refusal) -> Data {
        guard let url = URL(string: "http://\(address)\(path)") else {
            throw Refusal(description: "\(address) is no address.")
        }
        var request = URLRequest(url: url)
        request.httpMethod = json == nil ? "GET" : "POST"
        request.httpBody = json
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        var client = HTTPClientConfiguration()
        client.connectTimeout = 5
        client.usesEnvironmentProxies = false
        let answer = CollectedAnswer()
        do {
            _ = try await CurlTransport.shared(for: client).perform(
                request, terms: ExchangeTerms(stall: .seconds(600)),
                onResponse: { head in
                    answer.begin(head.status)
                    return .receive
                }, onBody: { answer.take($0) })
        } catch {
            throw Refusal(description: "The server at \(address) cannot be asked: \(error)")
        }
        let (status, body) = answer.value
        guard (200..<300).contains(status) else {
            let text = String(decoding: body.prefix(2000), as: UTF8.self)
            throw Refusal(
                description: "\(status): " + text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return body
    }
}

private final class CollectedAnswer: Sendable {
    private let answer = Mutex((status: 0, body: Data()))

    var value: (status: Int, body: Data) { answer.withLock { $0 } }

    func begin(_ status: Int) { answer.withLock { $0.status = status } }
    func take(_ bytes: UnsafeRawBufferPointer) {
        answer.withLock { $0.body.append(contentsOf: bytes) }
    }
}

public import Foundation
import FoundationNetworking
import HalcyonHTTP

/// Orders to a running server at its operations address: purges and warming.
public struct ServerOperations: Sendable {
    /// More is no answer to an order.
    private static let mostBytes = 64 << 20

    private let address: ListenAddress
    private let token: String?

    /// - Parameters:
    ///   - host: The host of the server's `ops.bind`, which must not be a socket of the file system.
    ///   - port: The port of `ops.bind`.
    ///   - token: The server's `ops.token`; `nil` when it has none.
    public init(host: String, port: Int, token: String?) {
        address = .tcp(host: host, port: port)
        self.token = token
    }

    /// An order was not taken.
    public struct Refusal: Error, CustomStringConvertible {
        /// Why, in the words of the server or of the system.
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
        let status: Int
        let body: Data
        do {
            let answer = try await CurlTransport.shared(for: client).answer(
                to: request, terms: ExchangeTerms(stall: .seconds(600)), limit: Self.mostBytes)
            (status, body) = (answer.head.status, answer.body)
        } catch {
            throw Refusal(description: "The server at \(address) cannot be asked: \(error)")
        }
        guard (200..<300).contains(status) else {
            let text = String(decoding: body.prefix(2000), as: UTF8.self)
            throw Refusal(
                description: "\(status): " + text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return body
    }
}

public import Foundation

/// Orders to a running server at its operations address: purges and warming.
public struct ServerOperations: Sendable {
    /// More is no answer to an order.
    private static let mostBytes = 64 << 20

    private let address: ListenAddress
    private let token: String?

    /// - Parameters:
    ///   - address: The server's `ops.bind`.
    ///   - token: The server's `ops.token`; `nil` when it has none.
    public init(at address: ListenAddress, token: String?) {
        self.address = address
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
        let client = OperationsClient(address: address, patience: .seconds(600))
        let answer: OperationsClient.Answer
        do {
            answer = try await client.answer(
                to: path, json: json, token: token, limit: Self.mostBytes)
        } catch {
            throw Refusal(description: "The server at \(address) cannot be asked: \(error)")
        }
        guard (200..<300).contains(answer.status) else {
            let text = String(decoding: answer.body.prefix(2000), as: UTF8.self)
            throw Refusal(
                description: "\(answer.status): "
                    + text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return answer.body
    }
}

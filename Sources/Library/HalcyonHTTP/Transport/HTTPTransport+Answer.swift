package import Foundation
package import FoundationNetworking
import HalcyonWork
import Synchronization

extension HTTPTransport {
    /// Sends `request` and returns the whole answer.
    ///
    /// - Parameter limit: Bytes of the (decoded) body; `nil` for any number.
    /// - Throws: `TransportError.responseTooLarge` for a body above the limit, and what `perform` throws.
    package func answer(
        to request: URLRequest, terms: ExchangeTerms, limit: Int? = nil
    ) async throws -> (head: AnswerHead, body: Data) {
        let url = request.url?.absoluteString ?? ""
        let answer = Mutex<(head: AnswerHead?, body: Data)>((nil, Data()))
        _ = try await perform(
            request, terms: terms,
            onResponse: { head in
                answer.withLock { $0.head = head }
                return .receive
            },
            onBody: { bytes in
                try answer.withLock { answer in
                    if let limit, bytes.count > limit - answer.body.count {
                        throw TransportError.responseTooLarge(url: url, limit: limit)
                    }
                    try answer.body.append(whileThereIsRoom: bytes)
                }
            })
        let (head, body) = answer.withLock { $0 }
        guard let head else {
            throw TransportError.invalidResponse(url: url, reason: "there was no answer")
        }
        return (head, body)
    }
}

import Foundation
package import FoundationNetworking

/// Carries one HTTP request and its answer; redirects are the caller's business.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and returns when the whole answer has arrived, or been discarded.
    ///
    /// - Parameters:
    ///   - onResponse: Decides on the answer before any of its body is taken.
    ///   - onBody: Takes the next piece of the (decoded) body; runs on the transport's thread, one
    ///     piece after the other. An error it throws ends the exchange and is passed on.
    /// - Returns: What was measured, if anything was.
    /// - Throws: `TransportError`, `CancellationError` when the task was cancelled, or what
    ///   `onResponse` or `onBody` threw.
    func perform(
        _ request: URLRequest, terms: ExchangeTerms,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ExchangeTimes?
}

/// What happens to the body of an answer.
package enum BodyDisposition: Sendable {
    /// It is wanted.
    case receive
    /// It is not: the exchange is over at once. A short rest is read in the background, so that the
    /// connection can be used again.
    case discard
}

/// What an exchange may take: time, and whose turn it is.
package struct ExchangeTerms: Sendable {
    /// The longest wait, counted from when the request was sent, for the next
    /// `StallWatch.quota` bytes or the end.
    package var stall: Duration
    /// When the exchange must have ended; `nil` for no such time.
    package var deadline: ContinuousClock.Instant?
    /// How urgent the exchange is compared with others to the same host.
    package var priority: TransferPriority
    /// Whether the server's certificate is taken without being verified.
    package var trustsAnyCertificate: Bool

    package init(
        stall: Duration, deadline: ContinuousClock.Instant? = nil,
        priority: TransferPriority = TransferPriority(), trustsAnyCertificate: Bool = false
    ) {
        self.stall = stall
        self.deadline = deadline
        self.priority = priority
        self.trustsAnyCertificate = trustsAnyCertificate
    }
}

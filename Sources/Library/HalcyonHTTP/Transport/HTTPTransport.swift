package import Foundation
package import FoundationNetworking
import HalcyonWork
import Synchronization

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

/// What HTTP clients differ in; downloaders with equal values share connections.
package struct HTTPClientConfiguration: Hashable, Sendable {
    /// Seconds until a connection must stand.
    package var connectTimeout: TimeInterval = 15
    package var connectionsPerHost = 6
    /// Bytes after content decoding; `nil` for no limit.
    package var maximumResponseSize: Int? = 100 * 1024 * 1024
    /// Certificates in PEM form.
    package var additionalTrustRoots: [String] = []
    package var serverTrustEvaluator: ServerTrustEvaluator?
    package var clientCertificate: ClientCertificate?
    /// Whether the proxies that the environment names are used.
    package var usesEnvironmentProxies = true
    package var addressPolicy = AddressPolicy.unrestricted

    package init() {}
}

/// What was measured of one request and its answer.
package struct ExchangeTimes: Sendable {
    /// How long the parts of connecting took. They follow each other.
    package struct Connecting: Equatable, Sendable {
        package var nameLookup: Duration
        package var tcp: Duration
        /// `nil` without TLS.
        package var tls: Duration?

        package init(nameLookup: Duration, tcp: Duration, tls: Duration?) {
            self.nameLookup = nameLookup
            self.tcp = tcp
            self.tls = tls
        }
    }

    /// When the request's turn had come.
    package let start: ContinuousClock.Instant
    /// When a connection stood and the request was about to be written to it.
    package var sent: ContinuousClock.Instant?
    /// When the header of the answer had arrived.
    package var answered: ContinuousClock.Instant?
    /// Whether the connection had been there before; `nil` when that is not known.
    package var isConnectionReused: Bool?
    /// Of a connection that was made for the request.
    package var connecting: Connecting?

    package init(
        start: ContinuousClock.Instant, sent: ContinuousClock.Instant? = nil,
        answered: ContinuousClock.Instant? = nil, isConnectionReused: Bool? = nil,
        connecting: Connecting? = nil
    ) {
        self.start = start
        self.sent = sent
        self.answered = answered
        self.isConnectionReused = isConnectionReused
        self.connecting = connecting
    }
}

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

/// Tells when a transfer has stalled: no `quota` bytes more (and not the end) in the time allowed.
///
/// A mere limit on silence would let a server hold a connection forever with a byte now and then.
package struct StallWatch {
    /// 16 KiB. In 15 seconds that is a tenth of what the slowest mobile networks carry.
    package static let quota = 16 * 1024

    package let timeout: Duration
    private var received = 0
    private var start: ContinuousClock.Instant
    private var isPaused = false

    package init(timeout: Duration, now: ContinuousClock.Instant) {
        self.timeout = timeout
        start = now
    }

    /// Counts bytes that arrived.
    package mutating func receive(_ count: Int, now: ContinuousClock.Instant) {
        received += count
        if received >= Self.quota {
            received = 0
            start = now
        }
    }

    /// Stops the time, while it is not the server that is waited for.
    package mutating func pause() {
        isPaused = true
    }

    /// Starts the time again, from the beginning.
    package mutating func resume(now: ContinuousClock.Instant) {
        isPaused = false
        received = 0
        start = now
    }

    /// How long to wait until asking again; `nil` when the transfer has stalled.
    package func remaining(now: ContinuousClock.Instant) -> Duration? {
        if isPaused { return timeout }
        let rest = timeout - (now - start)
        return rest > .zero ? rest : nil
    }
}

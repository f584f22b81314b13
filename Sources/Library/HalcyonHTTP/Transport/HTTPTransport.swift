package import Foundation
package import FoundationNetworking
import HalcyonWork
import Synchronization

/// Performs one HTTP request; the caller follows redirects.
package protocol HTTPTransport: Sendable {
    /// Sends `request` and returns when the whole response has arrived, or been discarded.
    ///
    /// - Parameters:
    ///   - onResponse: Decides on the response before any of its body is taken.
    ///   - onBody: Takes the next piece of the (decoded) body; runs on the transport's thread, one
    ///     piece after the other. An error it throws ends the exchange and is passed on.
    /// - Returns: The measured times, if any.
    /// - Throws: `TransportError`, `CancellationError` when the task was cancelled, or what
    ///   `onResponse` or `onBody` threw.
    func perform(
        _ request: URLRequest, terms: ExchangeTerms,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ExchangeTimes?
}

package enum BodyDisposition: Sendable {
    case receive
    /// The body is not wanted: the exchange is over at once. A short rest is read in the
    /// background, so that the connection can be reused.
    case discard
}

package struct ExchangeTerms: Sendable {
    /// The stall timeout, counted from the sending of the request: the longest wait for the next
    /// `StallWatch.quota` bytes or the end.
    package var stall: Duration
    /// The deadline of the exchange; `nil` for none.
    package var deadline: ContinuousClock.Instant?
    /// The urgency of the exchange compared with others to the same host.
    package var priority: TransferPriority
    /// Whether the server's certificate is accepted without verification.
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

/// The settings of an HTTP client; downloaders with equal values share connections.
package struct HTTPClientConfiguration: Hashable, Sendable {
    /// The timeout for connecting in seconds.
    package var connectTimeout: TimeInterval = 15
    package var connectionsPerHost = 6
    /// Bytes after content decoding; `nil` for no limit.
    package var maximumResponseSize: Int? = 100 * 1024 * 1024
    /// Certificates in PEM form.
    package var additionalTrustRoots: [String] = []
    package var serverTrustEvaluator: ServerTrustEvaluator?
    package var clientCertificate: ClientCertificate?
    package var usesEnvironmentProxies = true
    package var addressPolicy = AddressPolicy.unrestricted

    package init() {}
}

/// The measured times of one request and its response.
package struct ExchangeTimes: Sendable {
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

    /// The time at which the request was admitted.
    package let start: ContinuousClock.Instant
    /// The time at which the connection was established and the request was about to be written.
    package var sent: ContinuousClock.Instant?
    /// The time at which the header of the response had arrived.
    package var answered: ContinuousClock.Instant?
    /// Whether the connection was reused; `nil` when that is not known.
    package var isConnectionReused: Bool?
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
    /// Sends `request` and returns the whole response.
    ///
    /// - Parameters:
    ///   - limit: The limit of the (decoded) body in bytes; `nil` for none.
    ///   - accepts: Whether the body of a response is received; it is empty otherwise.
    ///   - check: Called with the first `checkedCount` bytes of a body, or with all of a shorter one.
    /// - Throws: `TransportError.responseTooLarge` for a body above the limit, before it is received if
    ///   its header says so; `LargeMemory.Shortage`; and what `accepts`, `check` and `perform` throw.
    package func answer(
        to request: URLRequest, terms: ExchangeTerms, limit: Int? = nil,
        accepting accepts: @escaping @Sendable (AnswerHead) -> Bool = { _ in true },
        checking check: @escaping @Sendable (Data) throws -> Void = { _ in }
    ) async throws -> (head: AnswerHead, body: Data) {
        let url = request.url?.absoluteString ?? ""
        let answer = Mutex<(head: AnswerHead?, body: Data, isChecked: Bool)>((nil, Data(), true))
        _ = try await perform(
            request, terms: terms,
            onResponse: { head in
                let isAccepted = accepts(head)
                let length = isAccepted ? head.contentLength : nil
                if let limit, let length, length > Int64(limit) {
                    throw TransportError.responseTooLarge(url: url, limit: limit)
                }
                answer.withLock { answer in
                    answer.head = head
                    answer.isChecked = !isAccepted
                    // The length is untrusted: no more is reserved than costs nothing.
                    if let length { answer.body.reserveCapacity(Int(min(length, 1 << 20))) }
                }
                return isAccepted ? .receive : .discard
            },
            onBody: { bytes in
                try answer.withLock { answer in
                    if let limit, bytes.count > limit - answer.body.count {
                        throw TransportError.responseTooLarge(url: url, limit: limit)
                    }
                    try answer.body.append(whileThereIsRoom: bytes)
                    guard !answer.isChecked, answer.body.count >= checkedCount else { return }
                    answer.isChecked = true
                    try check(answer.body)
                }
            })
        let (head, body, isChecked) = answer.withLock { $0 }
        guard let head else {
            throw TransportError.invalidResponse(url: url, reason: "there was no answer")
        }
        if !isChecked { try check(body) }
        return (head, body)
    }
}

/// The number of bytes of a body by which its kind is known.
private let checkedCount = 32 * 1024

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

    package mutating func receive(_ count: Int, now: ContinuousClock.Instant) {
        received += count
        if received >= Self.quota {
            received = 0
            start = now
        }
    }

    /// Pauses the timeout while the transfer does not wait for the server.
    package mutating func pause() {
        isPaused = true
    }

    package mutating func resume(now: ContinuousClock.Instant) {
        isPaused = false
        received = 0
        start = now
    }

    /// The time until the next check; `nil` when the transfer has stalled.
    package func remaining(now: ContinuousClock.Instant) -> Duration? {
        if isPaused { return timeout }
        let rest = timeout - (now - start)
        return rest > .zero ? rest : nil
    }
}

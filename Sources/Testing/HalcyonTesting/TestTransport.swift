public import Foundation
public import FoundationNetworking
public import HalcyonHTTP
import Synchronization

/// A network that answers from a table, for tests of programs that load images.
///
/// A request for a URL outside the table fails. Delays end only when a test advances ``clock``.
///
/// ```swift
/// let environment = try TestEnvironment()
/// environment.transport.answer(url, with: .status(503), .data(png))
/// ```
public final class TestTransport: Sendable {
    /// The clock of all delays.
    public let clock: ManualClock

    private struct State {
        var answers: [URL: [TestAnswer]] = [:]
        var failure: TransportError?
    }

    private let state = Mutex(State())
    private let log = Recorder<URLRequest>()

    /// A network without any answers.
    public init(clock: ManualClock = ManualClock()) {
        self.clock = clock
    }

    /// Answers requests for `url` with `answers`, one after the other, and then always with the
    /// last one. Replaces earlier answers for the URL.
    public func answer(_ url: URL, with answers: TestAnswer...) {
        precondition(!answers.isEmpty, "a URL needs at least one answer")
        state.withLock { $0.answers[url] = answers }
    }

    /// Fails all requests with `error`, as without a network; `nil` restores the table.
    public func failAll(with error: TransportError?) {
        state.withLock { $0.failure = error }
    }

    /// All requests so far, in the order they were sent.
    public var requests: [URLRequest] { log.events }

    /// Returns the number of requests for `url`.
    public func requestCount(for url: URL) -> Int {
        log.events.count { $0.url == url }
    }

    /// Waits until there have been `count` requests, of all URLs; returns at once when cancelled.
    public func waitForRequests(_ count: Int) async {
        await log.waitFor(count: count)
    }

    private func next(for url: URL?) throws -> TestAnswer {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            guard let url, let answers = state.answers[url], let first = answers.first else {
                throw TransportError.other(
                    url: url?.absoluteString ?? "",
                    reason: "the table of the test has no answer for this URL")
            }
            if answers.count > 1 { state.answers[url] = Array(answers.dropFirst()) }
            return first
        }
    }
}

extension TestTransport: HTTPTransport {
    package func perform(
        _ request: URLRequest, terms: ExchangeTerms,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ExchangeTimes? {
        log.record(request)
        let answer = try next(for: request.url)
        if answer.delay > .zero { try await clock.sleep(for: answer.delay) }
        switch answer.outcome {
        case .failure(let error):
            throw error
        case .response(let status, let body):
            guard let url = request.url else { return nil }
            var fields: HTTPFields = ["Content-Length": "\(body.count)"]
            for (name, value) in answer.headers { fields.append(name, value) }
            let head = AnswerHead(url: url, status: status, fields: fields)
            guard try await onResponse(head) == .receive else { return nil }
            let length = answer.pieceLength ?? max(1, body.count)
            for start in stride(from: 0, to: body.count, by: length) {
                if start > 0 { try await clock.sleep(for: answer.pieceDelay) }
                try body.dropFirst(start).prefix(length).withUnsafeBytes(onBody)
            }
            return nil
        }
    }
}

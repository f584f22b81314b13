import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// One request and its answer in AsyncHTTPClient.
final class Exchange: HTTPClientResponseDelegate {
    typealias Response = Void
    typealias Continuation = CheckedContinuation<ExchangeTimes?, any Error>

    /// The longest rest of an unwanted body that is read to keep the connection.
    private static let longestDiscardedRest = 64 * 1024

    private struct State {
        var continuation: Continuation?
        var task: HTTPClient.Task<Void>?
        var isCancelled = false
        var times: ExchangeTimes?
        var watch: StallWatch?
        var isDiscarding = false
        var hasHead = false
        var received: Int64 = 0
        /// What the header says, of a body without content encoding.
        var expected: Int64?
    }

    private let url: URL
    private let host: String
    private let terms: ExchangeTerms
    private let onHTTP2: @Sendable () -> Void
    private let onResponse: @Sendable (AnswerHead) async throws -> BodyDisposition
    private let onBody: @Sendable (UnsafeRawBufferPointer) throws -> Void
    private let state = Mutex(State())

    init(
        url: URL, host: String, terms: ExchangeTerms, onHTTP2: @escaping @Sendable () -> Void,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) {
        self.url = url
        self.host = host
        self.terms = terms
        self.onHTTP2 = onHTTP2
        self.onResponse = onResponse
        self.onBody = onBody
    }

    /// Starts the exchange with `execute`, unless it has been cancelled; `continuation` is resumed
    /// exactly once.
    func start(_ continuation: Continuation, execute: () -> HTTPClient.Task<Void>) {
        let isCancelled = state.withLock {
            if !$0.isCancelled { $0.continuation = continuation }
            $0.times = ExchangeTimes(start: ContinuousClock().now)
            return $0.isCancelled
        }
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        let task = execute()
        // A client that is shutting down fails the task without telling the delegate.
        task.futureResult.whenFailure { self.finish(.failure($0)) }
        let isLate = state.withLock {
            $0.task = task
            return $0.isCancelled
        }
        if isLate { task.cancel() }
    }

    func cancel() {
        let task = state.withLock {
            $0.isCancelled = true
            return $0.task
        }
        task?.cancel()
        finish(.failure(CancellationError()))
    }

    // MARK: - Events, on the event loop

    /// The request is written to a connection.
    func requestLeaves(isConnectionReused: Bool) {
        state.withLock { $0.times?.isConnectionReused = isConnectionReused }
    }

    func didSendRequestHead(task: HTTPClient.Task<Void>, _ head: HTTPRequestHead) {
        let now = ContinuousClock().now
        state.withLock {
            $0.times?.sent = now
            $0.watch = StallWatch(timeout: terms.stall, now: now)
        }
        scheduleCheck(in: terms.stall, task: task)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead)
        -> EventLoopFuture<Void>
    {
        if head.version.major >= 2 { onHTTP2() }
        let answer = AnswerHead(
            url: url, status: Int(head.status.code),
            version: "HTTP/\(head.version.major).\(head.version.minor)",
            fields: head.headers.map { ($0.name, $0.value) })
        let encoding = answer.contentEncoding
        if let encoding, !["gzip", "deflate"].contains(encoding) {
            let error = ImageTransportError.undecodableBody(
                url: url.absoluteString, reason: "its content encoding is \(encoding)")
            return refuse(error, task: task, length: nil)
        }
        let length = answer.contentLength
        let now = ContinuousClock().now
        state.withLock {
            $0.times?.answered = now
            $0.hasHead = true
            $0.watch?.pause()
            $0.expected = encoding == nil ? length : nil
        }
        let decision = task.eventLoop.makePromise(of: BodyDisposition.self)
        // Usually nothing in it waits; then the body is taken as soon as it comes.
        Task.immediate { [onResponse] in
            do {
                decision.succeed(try await onResponse(answer))
            } catch {
                decision.fail(error)
            }
        }
        return decision.futureResult.flatMap { disposition in
            self.resumeWatch()
            if disposition == .discard { return self.discard(task: task, length: length) }
            return task.eventLoop.makeSucceededVoidFuture()
        }.flatMapError { error in
            self.resumeWatch()
            return self.refuse(error, task: task, length: length)
        }
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer)
        -> EventLoopFuture<Void>
    {
        let now = ContinuousClock().now
        let (isDiscarding, received) = state.withLock {
            $0.received += Int64(buffer.readableBytes)
            $0.watch?.receive(buffer.readableBytes, now: now)
            return ($0.isDiscarding, $0.received)
        }
        if isDiscarding {
            return received > Self.longestDiscardedRest
                ? task.eventLoop.makeFailedFuture(CancellationError())
                : task.eventLoop.makeSucceededVoidFuture()
        }
        do {
            try buffer.withUnsafeReadableBytes(onBody)
            return task.eventLoop.makeSucceededVoidFuture()
        } catch {
            finish(.failure(error))
            return task.eventLoop.makeFailedFuture(error)
        }
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) {
        finish(.failure(error))
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {
        let (received, expected, times) = state.withLock { ($0.received, $0.expected, $0.times) }
        if let expected, received < expected {
            finish(.failure(incomplete))
        } else {
            finish(.success(times))
        }
    }

    // MARK: - Ends

    /// Ends the exchange for the caller; the rest of the body is read if it is short.
    private func discard(task: HTTPClient.Task<Void>, length: Int64?) -> EventLoopFuture<Void> {
        let times = state.withLock {
            $0.isDiscarding = true
            $0.received = 0
            return $0.times
        }
        finish(.success(times))
        return length ?? 0 > Self.longestDiscardedRest
            ? task.eventLoop.makeFailedFuture(CancellationError())
            : task.eventLoop.makeSucceededVoidFuture()
    }

    /// Ends the exchange with an error, then like `discard`.
    private func refuse(_ error: any Error, task: HTTPClient.Task<Void>, length: Int64?)
        -> EventLoopFuture<Void>
    {
        finish(.failure(error))
        return discard(task: task, length: length)
    }

    private func resumeWatch() {
        let now = ContinuousClock().now
        state.withLock { $0.watch?.resume(now: now) }
    }

    /// Looks whether the transfer has stalled when it may have, until it has ended.
    private func scheduleCheck(in delay: Duration, task: HTTPClient.Task<Void>) {
        let check = task.eventLoop.scheduleTask(in: .seconds(delay / .seconds(1))) {
            let now = ContinuousClock().now
            if let rest = self.state.withLock({ $0.watch?.remaining(now: now) }) {
                self.scheduleCheck(in: rest, task: task)
            } else {
                let error = ImageTransportError.timedOut(.stall, url: self.url.absoluteString)
                self.finish(.failure(error))
                task.fail(reason: error)
            }
        }
        task.futureResult.whenComplete { _ in check.cancel() }
    }

    private var incomplete: ImageTransportError {
        let (received, expected) = state.withLock { ($0.received, $0.expected) }
        return .incompleteBody(
            url: url.absoluteString, received: expected == nil ? nil : received, expected: expected)
    }

    /// Resumes the caller, once; later ends change nothing.
    private func finish(_ result: Result<ExchangeTimes?, any Error>) {
        let (continuation, hasHead) = state.withLock { state in
            defer { state.continuation = nil }
            return (state.continuation, state.hasHead)
        }
        guard let continuation else { return }
        continuation.resume(with: result.mapError { error in describe(error, hasHead: hasHead) })
    }

    /// `error` in our own terms, unless it comes from the callbacks.
    private func describe(_ error: any Error, hasHead: Bool) -> any Error {
        if error is ImageTransportError || error is KingfisherError || error is CancellationError {
            return error
        }
        let translated = ImageTransportError(error, url: url.absoluteString, host: host)
        guard hasHead else { return translated }
        switch translated {
        case .connectionReset where ImageTransportError.isEarlyEnd(error):
            return incomplete
        case .other(let url, let reason):
            // In the middle of an answer: an HTTP/2 stream that was reset, for example.
            return ImageTransportError.connectionReset(url: url, reason: reason)
        default:
            return translated
        }
    }
}

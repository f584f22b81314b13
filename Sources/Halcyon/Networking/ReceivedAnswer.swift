import Foundation
import FoundationNetworking
import Synchronization

/// The answer to one request of a transfer: the response with the image, or what leads there.
final class ReceivedAnswer: Sendable {
    /// How the transfer goes on when the answer is not the last one.
    enum Sequel {
        case redirect(URLRequest)
        /// The same request again, with credentials.
        case authenticate
    }

    private struct State {
        var sequel: Sequel?
        /// The length the header says; `nil` when it says none, or that of an encoded body.
        var expected: Int64?
    }

    private let transfer: Transfer
    private let request: URLRequest
    private let authenticator: Authenticator
    private let progress: ProgressReporter
    private let display: ProgressiveDisplay
    private let state = Mutex(State())

    init(
        transfer: Transfer, request: URLRequest, authenticator: Authenticator,
        progress: ProgressReporter, display: ProgressiveDisplay
    ) {
        self.transfer = transfer
        self.request = request
        self.authenticator = authenticator
        self.progress = progress
        self.display = display
    }

    /// How to go on; `nil` when the answer is the last one.
    var sequel: Sequel? { state.withLock { $0.sequel } }

    /// Decides on the answer.
    func receive(_ head: AnswerHead) async throws -> BodyDisposition {
        if let next = try await redirect(head) {
            state.withLock { $0.sequel = .redirect(next) }
            return .discard
        }
        if head.status == 401, try await answersChallenge(head) {
            state.withLock { $0.sequel = .authenticate }
            return .discard
        }
        let task = transfer.task
        task.setHead(head, reserving: 0)
        try await checkAcceptable(head)
        guard let expected = try expectedLength(head) else { return .receive }
        state.withLock { $0.expected = expected }
        task.setHead(head, reserving: transfer.reservation(for: expected))
        return .receive
    }

    /// Takes a piece of the body.
    func receive(_ bytes: UnsafeRawBufferPointer) throws {
        let limit = transfer.settings.client.maximumResponseSize
        guard let received = transfer.task.append(bytes, limit: limit) else { throw tooLarge }
        if transfer.task.reportsProgress, let expected = state.withLock({ $0.expected }) {
            progress.report(Int64(received), of: expected)
        }
        display.bytesArrived()
    }

    private func redirect(_ head: AnswerHead) async throws -> URLRequest? {
        guard (300...399).contains(head.status) else { return nil }
        let response = try head.response
        guard var next = try request.redirected(by: response) else { return nil }
        if let handler = transfer.redirectHandler {
            let handled = await awayFromNetwork {
                await handler.handleHTTPRedirection(
                    for: transfer.task, response: response, newRequest: next)
            }
            guard let handled else { return nil }
            next = handled
        }
        guard let url = next.url, HTTPURL.hasHTTPScheme(url) else {
            throw ImageTransportError.redirectToUnsupportedScheme(next.url?.absoluteString ?? "")
        }
        return next
    }

    private func answersChallenge(_ head: AnswerHead) async throws -> Bool {
        guard transfer.downloader.authenticationChallengeResponder != nil else { return false }
        return try await awayFromNetwork {
            try await authenticator.answers(head.response, to: request)
        }
    }

    private func checkAcceptable(_ head: AnswerHead) async throws {
        let downloader = transfer.downloader
        guard let delegate = downloader.delegate else {
            return try check(head, with: DefaultImageDownloaderDelegate.shared)
        }
        try await awayFromNetwork {
            try check(head, with: delegate)
            let response = try head.response
            if await delegate.imageDownloader(downloader, didReceive: response) == .cancel {
                throw KingfisherError.responseError(
                    reason: .cancelledByDelegate(response: response))
            }
        }
    }

    private func check(_ head: AnswerHead, with delegate: any ImageDownloaderDelegate) throws {
        guard delegate.isValidStatusCode(head.status, for: transfer.downloader) else {
            throw KingfisherError.responseError(
                reason: .invalidHTTPStatusCode(response: try head.response))
        }
    }

    private func expectedLength(_ head: AnswerHead) throws -> Int64? {
        guard head.contentEncoding == nil, let length = head.contentLength, length > 0 else {
            return nil
        }
        if let limit = transfer.settings.client.maximumResponseSize, length > Int64(limit) {
            throw tooLarge
        }
        return length
    }

    private var tooLarge: ImageTransportError {
        .responseTooLarge(
            url: request.url?.absoluteString ?? "",
            limit: transfer.settings.client.maximumResponseSize ?? .max)
    }
}

/// Runs `body`, which calls the program's own code, on no thread of the network: others wait there.
private func awayFromNetwork<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    try await withTaskExecutorPreference(globalConcurrentExecutor, operation: body)
}

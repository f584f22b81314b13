import Foundation
import FoundationNetworking
import HalcyonHTTP
import Synchronization

/// The answer to one request of a transfer: the response with the image, or what leads there.
final class ReceivedAnswer: Sendable {
    /// How the transfer goes on when the answer is not the last one.
    enum Continuation {
        case redirect(URLRequest)
        /// The same request again, with credentials.
        case authenticate
        /// The same request again, for everything; what has come of it is not to be used.
        case startOver
    }

    private struct State {
        var next: Continuation?
        /// The length the header says; `nil` when it says none, or that of an encoded body.
        var expected: Int64?
    }

    private let transfer: Transfer
    private let request: URLRequest
    private let resumable: ResumableRequest?
    private let authenticator: Authenticator
    private let progress: ProgressReporter
    private let display: ProgressiveDisplay
    private let sizes: SizeWatch
    private let state = Mutex(State())

    init(
        transfer: Transfer, request: URLRequest, resumable: ResumableRequest?,
        authenticator: Authenticator, progress: ProgressReporter, display: ProgressiveDisplay,
        sizes: SizeWatch
    ) {
        self.transfer = transfer
        self.request = request
        self.resumable = resumable
        self.authenticator = authenticator
        self.progress = progress
        self.display = display
        self.sizes = sizes
    }

    /// How to go on; `nil` when the answer is the last one.
    var next: Continuation? { state.withLock { $0.next } }

    /// Has the request sent again.
    func startOver() {
        state.withLock { $0.next = .startOver }
    }

    /// Decides on the answer.
    func receive(_ head: AnswerHead) async throws -> BodyDisposition {
        if transfer.task.hop != nil { transfer.task.noteAnswer(at: transfer.downloader.now()) }
        if let url = request.url { transfer.downloader.serverPauses.note(head, from: url) }
        if let next = try await redirect(head) {
            if transfer.task.hop != nil { transfer.task.setRedirect(next, by: head) }
            state.withLock { $0.next = .redirect(next) }
            return .discard
        }
        if head.status == 401, try await answersChallenge(head) {
            state.withLock { $0.next = .authenticate }
            return .discard
        }
        let task = transfer.task
        switch try resumable?.receive(head) ?? .fresh {
        case .fresh:
            // Of a body that comes in several parts, this is none.
            if task.receivedCount > 0 {
                sizes.startOver()
                task.startOver()
            }
        case .startOver:
            startOver()
            return .discard
        case .rest(let bytes, let total):
            return try await receiveRest(head, after: bytes, total: total)
        }
        task.setHead(head, reserving: 0)
        try await checkAcceptable(head)
        guard let expected = try expectedLength(head) else { return .receive }
        state.withLock { $0.expected = expected }
        task.setHead(head, reserving: transfer.reservation(for: expected))
        return .receive
    }

    /// Decides on the rest of a body that begins with `bytes`.
    private func receiveRest(_ head: AnswerHead, after bytes: Data, total: Int64) async throws
        -> BodyDisposition
    {
        let task = transfer.task
        if let limit = transfer.settings.client.maximumResponseSize, total > Int64(limit) {
            throw tooLarge
        }
        task.setHead(head, after: bytes, reserving: transfer.reservation(for: total))
        try await checkAcceptable(head)
        state.withLock { $0.expected = total }
        if task.reportsProgress { progress.report(Int64(bytes.count), of: total) }
        display.bytesArrived()
        sizes.bytesArrived(bytes.count)
        return .receive
    }

    /// Takes a piece of the body.
    func receive(_ bytes: UnsafeRawBufferPointer) throws {
        let limit = transfer.settings.client.maximumResponseSize
        try resumable?.check(transfer.task.receivedCount + bytes.count)
        guard let received = transfer.task.append(bytes, limit: limit) else { throw tooLarge }
        resumable?.bytesArrived()
        if transfer.task.reportsProgress, let expected = state.withLock({ $0.expected }) {
            progress.report(Int64(received), of: expected)
        }
        display.bytesArrived()
        sizes.bytesArrived(received)
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
        if transfer.settings.honorsServerPause,
            let end = transfer.downloader.serverPause(for: url)
        {
            throw ImageTransportError.pausedByServer(url: url.absoluteString, until: end)
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
        guard
            transfer.task.isNotModified(head.status)
                || delegate.isValidStatusCode(head.status, for: transfer.downloader)
        else {
            throw KingfisherError.responseError(
                reason: .invalidHTTPStatusCode(response: try head.response))
        }
    }

    private func expectedLength(_ head: AnswerHead) throws -> Int64? {
        guard head.codings.known.isEmpty, let length = head.contentLength, length > 0 else {
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

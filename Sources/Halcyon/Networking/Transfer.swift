import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonWork
import Synchronization

/// One transfer from the first request to the last byte, for all callers that share it.
final class Transfer: Sendable {
    /// Redirects that are followed at most.
    static let redirectLimit = 10
    /// The most that is reserved because a header says so; longer bodies grow as they arrive.
    private static let reservationLimit = 32 * 1024 * 1024

    let id: Int
    let task: SessionDataTask
    let downloader: ImageDownloader
    let settings: DownloaderSettings
    let redirectHandler: (any ImageDownloadRedirectHandler)?
    /// Makes one of the URLs under which the same may have been downloaded before.
    private let cacheKeyNormalizer: CacheKeyNormalizer?
    private let caching: HTTPCaching

    init(
        id: Int, task: SessionDataTask, downloader: ImageDownloader,
        settings: DownloaderSettings, options: KingfisherParsedOptionsInfo
    ) {
        self.id = id
        self.task = task
        self.downloader = downloader
        self.settings = settings
        redirectHandler = options.redirectHandler
        cacheKeyNormalizer = options.cacheKeyNormalizer
        caching = options.httpCaching
    }

    /// Carries out the request and has the callers served.
    func run(_ request: URLRequest) async {
        let failure: KingfisherError
        do {
            try await receive(request)
            // The delegate may work on the body, and images are made of it next: where that is done
            // anyway, and not on a thread of the network.
            return DecodingPool.shared.submit { self.finish(.success(())) }
        } catch let error as KingfisherError {
            failure = error
        } catch {
            failure = .transport(error)
        }
        // Neither on a thread of the network nor after images that are being decoded.
        Task { self.finish(.failure(failure)) }
    }

    /// Receives the body of the final answer into `task`.
    private func receive(_ first: URLRequest) async throws {
        let transport = try downloader.transport()
        let start = ContinuousClock().now
        let deadline = settings.longestDownload.map { start + $0 }
        let progress = ProgressReporter(transfer: id, downloader: downloader)
        let sizes = SizeWatch(transfer: id, task: task, downloader: downloader)
        var display = makeDisplay()
        defer { display.end() }
        let authenticator = Authenticator(downloader: downloader, task: task)
        var request = first
        var redirectCount = 0
        var resumable = await resumable(request)
        do {
            while true {
                let answer = ReceivedAnswer(
                    transfer: self, request: request, resumable: resumable,
                    authenticator: authenticator, progress: progress, display: display,
                    sizes: sizes)
                let sent = resumable?.request ?? request
                if resumable != nil { task.setCurrentRequest(sent) }
                let signed = authenticator.authorized(sent)
                task.noteCredentials(signed.value(forHTTPHeaderField: "Authorization"))
                let terms = ExchangeTerms(
                    stall: settings.stallTimeout(of: request), deadline: deadline,
                    priority: task.transferPriority,
                    trustsAnyCertificate: settings.trustsAnyCertificate(of: request.url?.host))
                if task.hop != nil { task.noteSending(at: downloader.now()) }
                var times: ExchangeTimes?
                do {
                    times = try await transport.perform(
                        signed, terms: terms, onResponse: answer.receive, onBody: answer.receive)
                } catch is ResumableRequest.ExcessBytes {
                    resumable?.startOver()
                    answer.startOver()
                }
                switch answer.sequel {
                case nil:
                    let ending = try resumable?.answerEnded() ?? .whole(nil)
                    guard case .whole(let head) = ending else { continue }
                    setMetrics(
                        start: start, times: times, redirectCount: redirectCount,
                        resumedByteCount: resumable?.resumedByteCount ?? 0)
                    if let head { task.setHead(head, reserving: 0) }
                    return
                case .authenticate:
                    continue
                case .startOver:
                    // The pictures shown so far were made of bytes that are not to be used.
                    display.end()
                    display = makeDisplay()
                    sizes.startOver()
                    task.startOver()
                case .redirect(let next):
                    if task.hop != nil {
                        resumable?.leave()
                        return task.setCurrentRequest(next)
                    }
                    redirectCount += 1
                    guard redirectCount <= Self.redirectLimit else {
                        throw ImageTransportError.tooManyRedirects(
                            url: first.url?.absoluteString ?? "", limit: Self.redirectLimit)
                    }
                    request = next
                    task.setCurrentRequest(next)
                    resumable?.leave()
                    resumable = await self.resumable(next)
                }
            }
        } catch {
            resumable?.breakOff(error)
            throw error
        }
    }

    /// What continues an earlier download of the same; `nil` when nothing of this one is to be kept.
    private func resumable(_ request: URLRequest) async -> ResumableRequest? {
        guard settings.partials != nil else { return nil }
        let resumable = ResumableRequest(
            request, task: task, settings: settings, normalizer: cacheKeyNormalizer,
            caching: caching)
        await resumable?.findPartial()
        return resumable
    }

    private func makeDisplay() -> ProgressiveDisplay {
        ProgressiveDisplay(
            task: task, clock: settings.progressiveClock,
            waiters: { [downloader, id] in downloader.downloads.callers(of: id) })
    }

    private func setMetrics(
        start: ContinuousClock.Instant, times: ExchangeTimes?, redirectCount: Int,
        resumedByteCount: Int
    ) {
        guard let status = task.head?.status,
            (200...299).contains(status) || task.isNotModified(status)
        else { return }
        task.setMetrics(
            NetworkMetrics(
                start: start, end: ContinuousClock().now, times: times,
                sentByteCount: task.currentRequest?.httpBody?.count ?? 0,
                receivedByteCount: task.receivedCount - resumedByteCount,
                resumedByteCount: resumedByteCount, statusCode: status,
                redirectCount: redirectCount + (task.hop?.redirectCount ?? 0)))
    }

    /// How much room is made for a body whose header says `expected` bytes.
    func reservation(for expected: Int64) -> Int {
        let limit = min(settings.client.maximumResponseSize ?? .max, Self.reservationLimit)
        return Int(min(max(0, expected), Int64(limit)))
    }

    /// Ends the transfer and serves its callers, also those that join while the delegate is asked.
    private func finish(_ result: Result<Void, KingfisherError>) {
        // All have cancelled, and have been told.
        guard !downloader.downloads.callers(of: id).isEmpty else { return }
        var outcome = result.map { task.sharedData }
        if let delegate = downloader.delegate { tell(delegate, of: &outcome) }
        deliver(outcome.map { DownloadedData($0, of: task) })
    }

    /// Lets the delegate change the body, and tells it of the end.
    private func tell(
        _ delegate: any ImageDownloaderDelegate, of outcome: inout Result<Data, KingfisherError>
    ) {
        var error: KingfisherError?
        switch outcome {
        case .success where task.hasNoContent:
            // A redirect is not the end.
            if task.answer?.redirect != nil { return }
        case .failure(let failure):
            error = failure
        case .success(let received):
            if let data = delegate.imageDownloader(downloader, didDownload: received, with: task) {
                outcome = .success(data)
            } else {
                let failure = KingfisherError.responseError(
                    reason: .dataModifyingFailed(task: task))
                outcome = .failure(failure)
                error = failure
            }
        }
        if let url = task.originalURL {
            delegate.imageDownloader(
                downloader, didFinishDownloadingImageForURL: url, with: task.response, error: error)
        }
    }

    /// From here on no caller can join; those that visited before find the result kept.
    private func deliver(_ outcome: Result<DownloadedData, KingfisherError>) {
        let kept = try? outcome.get()
        for waiter in downloader.downloads.finish(id, keeping: kept?.keptForLatecomers) {
            waiter.completion(outcome.map { $0.limited(by: waiter.limits) })
        }
    }
}

extension DownloadedData {
    /// What those get who have begun before the end but have not asked yet: nothing of an answer that
    /// its server wants to be kept by nobody.
    fileprivate var keptForLatecomers: DownloadedData? {
        guard let answer, CacheControlDirectives(of: answer.fields).noStore else { return self }
        return nil
    }
}

/// The answer to one request of a transfer: the response with the image, or what leads there.
final class ReceivedAnswer: Sendable {
    /// How the transfer goes on when the answer is not the last one.
    enum Sequel {
        case redirect(URLRequest)
        /// The same request again, with credentials.
        case authenticate
        /// The same request again, for everything; what has come of it is not to be used.
        case startOver
    }

    private struct State {
        var sequel: Sequel?
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
    var sequel: Sequel? { state.withLock { $0.sequel } }

    /// Has the request sent again.
    func startOver() {
        state.withLock { $0.sequel = .startOver }
    }

    /// Decides on the answer.
    func receive(_ head: AnswerHead) async throws -> BodyDisposition {
        if transfer.task.hop != nil { transfer.task.noteAnswer(at: transfer.downloader.now()) }
        if let url = request.url { transfer.downloader.serverPauses.note(head, from: url) }
        if let next = try await redirect(head) {
            if transfer.task.hop != nil { transfer.task.setRedirect(next, by: head) }
            state.withLock { $0.sequel = .redirect(next) }
            return .discard
        }
        if head.status == 401, try await answersChallenge(head) {
            state.withLock { $0.sequel = .authenticate }
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

import Foundation
import FoundationNetworking
import HalcyonWork

/// A transfer from the first request to the last byte, for all callers that share it.
///
/// Its progress is the `stage` of its task.
final class Transfer: Sendable {
    static let redirectLimit = 10
    /// The maximum reservation on the word of a header, in bytes; longer bodies grow as they
    /// arrive.
    private static let reservationLimit: Int64 = 32 * 1024 * 1024

    private struct Sent: Sendable {
        let request: URLRequest
        let resumable: ResumableRequest?
        let display: ProgressiveDisplay
    }

    private let id: Int
    private let task: SessionDataTask
    private let downloader: ImageDownloader
    private let settings: DownloaderSettings
    private let redirectHandler: (any ImageDownloadRedirectHandler)?
    /// Unifies URLs that may have been downloaded before under another form.
    private let cacheKeyNormalizer: CacheKeyNormalizer?
    private let caching: HTTPCaching
    private let authenticator: Authenticator
    private let progress: ProgressReporter
    private let sizes: SizeWatch

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
        authenticator = Authenticator(downloader: downloader, task: task)
        progress = ProgressReporter(task)
        sizes = SizeWatch(task)
    }

    func run(_ request: URLRequest) async {
        do {
            try await receive(request)
            // The delegate may work on the body, and images are made from it next: on the decoding
            // pool, and not on a network thread.
            DecodingPool.shared.submit { self.finish(.success(())) }
        } catch {
            // Neither on a network thread nor behind images that are being decoded.
            Task { self.finish(.failure(error as? KingfisherError ?? .transport(error))) }
        }
    }
}

// MARK: Requests

extension Transfer {
    /// Receives the body of the final answer into `task`.
    private func receive(_ first: URLRequest) async throws {
        let transport = try downloader.transport()
        let start = ContinuousClock().now
        let deadline = settings.longestDownload.map { start + $0 }
        func makeDisplay() -> ProgressiveDisplay {
            ProgressiveDisplay(task, time: settings.scanTime)
        }
        var display = makeDisplay()
        defer { display.end() }
        var request = first
        var redirectCount = 0
        var resumable = await resumable(request)
        do {
            while true {
                let sent = Sent(request: request, resumable: resumable, display: display)
                let times = try await send(sent, by: transport, deadline: deadline)
                switch task.stage {
                case .cancelled:
                    throw CancellationError()
                case .challenged:
                    continue
                case .startingOver:
                    // The pictures shown so far were made from void bytes.
                    display.end()
                    display = makeDisplay()
                    sizes.startOver()
                    task.startOver()
                case .redirected(let next, _):
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
                case .asking, .receiving, .complete:
                    let ending = try resumable?.answerEnded() ?? .whole(nil)
                    guard case .whole(let head) = ending else { continue }
                    let metrics = metrics(
                        start: start, times: times, redirectCount: redirectCount,
                        resumedByteCount: resumable?.resumedByteCount ?? 0)
                    task.complete(head, metrics)
                    return try checkCodings()
                }
            }
        } catch {
            resumable?.breakOff(error)
            throw error
        }
    }

    private func send(
        _ sent: Sent, by transport: any HTTPTransport, deadline: ContinuousClock.Instant?
    ) async throws -> ExchangeTimes? {
        let request = sent.resumable?.request ?? sent.request
        let signed = authenticator.authorized(request)
        task.send(
            request, credentials: signed.value(forHTTPHeaderField: "Authorization"),
            at: downloader.now())
        let terms = ExchangeTerms(
            stall: settings.stallTimeout(of: sent.request), deadline: deadline,
            priority: task.transferPriority,
            trustsAnyCertificate: settings.trustsAnyCertificate(of: sent.request.url?.host))
        do {
            return try await transport.perform(
                signed, terms: terms,
                onResponse: { head in try await self.receive(head, of: sent) },
                onBody: { bytes in try self.receive(bytes, of: sent) })
        } catch is ResumableRequest.ExcessBytes {
            sent.resumable?.startOver()
            task.move(to: .startingOver)
            return nil
        }
    }

    /// Returns a request that resumes an earlier download; `nil` if this download is not to be
    /// kept.
    private func resumable(_ request: URLRequest) async -> ResumableRequest? {
        let resumable = ResumableRequest(
            request, task: task, settings: settings, normalizer: cacheKeyNormalizer,
            caching: caching)
        await resumable?.findPartial()
        return resumable
    }

    /// Accepts bytes in unknown codings if they are a picture; otherwise they are still encoded, or
    /// no image.
    private func checkCodings() throws {
        guard let unknown = task.head?.codings.unknown, !unknown.isEmpty,
            ImageSniffer.format(of: task.sharedData) == .unknown
        else { return }
        throw ImageTransportError.undecodableBody(
            url: task.originalURL?.absoluteString ?? "",
            reason: "its content encoding is \(unknown.joined(separator: ", "))")
    }

    private func metrics(
        start: ContinuousClock.Instant, times: ExchangeTimes?, redirectCount: Int,
        resumedByteCount: Int
    ) -> NetworkMetrics? {
        guard let status = task.head?.status,
            (200...299).contains(status) || task.isNotModified(status)
        else { return nil }
        return NetworkMetrics(
            .init(
                start: start, end: ContinuousClock().now, times: times,
                sentByteCount: task.currentRequest?.httpBody?.count ?? 0,
                receivedByteCount: task.receivedCount - resumedByteCount,
                resumedByteCount: resumedByteCount, statusCode: status,
                redirectCount: redirectCount + (task.hop?.redirectCount ?? 0)))
    }
}

// MARK: The answer

extension Transfer {
    private func receive(_ head: AnswerHead, of sent: Sent) async throws -> BodyDisposition {
        let answer = SessionDataTask.Answer(head: head, received: downloader.now())
        if let url = sent.request.url { downloader.serverPauses.note(head, from: url) }
        if let next = try await redirect(head, of: sent.request) {
            task.move(to: .redirected(to: next, by: task.hop == nil ? nil : answer))
            return .discard
        }
        if head.status == 401, downloader.authenticationChallengeResponder != nil,
            try await awayFromNetwork({
                try await authenticator.answers(head.response, to: sent.request)
            })
        {
            task.move(to: .challenged)
            return .discard
        }
        switch try sent.resumable?.receive(head) ?? .fresh {
        case .fresh:
            // This is not another part of a body in several parts.
            if task.receivedCount > 0 {
                sizes.startOver()
                task.startOver()
            }
        case .startOver:
            task.move(to: .startingOver)
            return .discard
        case .rest(let bytes, let total):
            try receive(answer, after: bytes, expecting: total, of: sent.request)
            try await checkAcceptable(head)
            noteBytes(bytes.count, of: sent)
            return .receive
        }
        task.receive(answer)
        try await checkAcceptable(head)
        if head.codings.known.isEmpty, let length = head.contentLength, length > 0 {
            try receive(answer, expecting: length, of: sent.request)
        }
        return .receive
    }

    /// Receives a body of `length` bytes, unless that is above the limit.
    private func receive(
        _ answer: SessionDataTask.Answer, after bytes: Data? = nil, expecting length: Int64,
        of request: URLRequest
    ) throws {
        if let limit = settings.client.maximumResponseSize, length > Int64(limit) {
            throw tooLarge(request)
        }
        task.receive(
            answer, after: bytes, expecting: length,
            reserving: Int(min(length, Self.reservationLimit)))
    }

    private func receive(_ bytes: UnsafeRawBufferPointer, of sent: Sent) throws {
        try sent.resumable?.check(task.receivedCount + bytes.count)
        let limit = settings.client.maximumResponseSize
        guard let received = task.append(bytes, limit: limit) else {
            throw tooLarge(sent.request)
        }
        sent.resumable?.bytesArrived()
        noteBytes(received, of: sent)
    }

    private func noteBytes(_ received: Int, of sent: Sent) {
        if task.has(.progress), let expected = task.expectedLength {
            progress.report(Int64(received), of: expected)
        }
        sent.display.bytesArrived()
        sizes.bytesArrived(received)
    }

    /// Returns the redirected request; `nil` if the response is no redirect, or one that is not
    /// followed.
    private func redirect(
        _ head: AnswerHead, of request: URLRequest
    ) async throws -> URLRequest? {
        guard (300...399).contains(head.status) else { return nil }
        let response = try head.response
        guard var next = try request.redirected(by: response) else { return nil }
        if let redirectHandler {
            let handled = await awayFromNetwork {
                await redirectHandler.handleHTTPRedirection(
                    for: task, response: response, newRequest: next)
            }
            guard let handled else { return nil }
            next = handled
        }
        guard let url = next.url, HTTPURL.hasHTTPScheme(url) else {
            throw ImageTransportError.redirectToUnsupportedScheme(next.url?.absoluteString ?? "")
        }
        if settings.honorsServerPause, let end = downloader.serverPause(for: url) {
            throw ImageTransportError.pausedByServer(url: url.absoluteString, until: end)
        }
        return next
    }

    private func checkAcceptable(_ head: AnswerHead) async throws {
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
            task.isNotModified(head.status)
                || delegate.isValidStatusCode(head.status, for: downloader)
        else {
            throw KingfisherError.responseError(
                reason: .invalidHTTPStatusCode(response: try head.response))
        }
    }

    private func tooLarge(_ request: URLRequest) -> ImageTransportError {
        .responseTooLarge(
            url: request.url?.absoluteString ?? "",
            limit: settings.client.maximumResponseSize ?? .max)
    }
}

// MARK: The end

extension Transfer {
    /// Ends the transfer and serves its callers, also those that join during the delegate's calls.
    private func finish(_ result: Result<Void, KingfisherError>) {
        // All callers have cancelled, and have been told.
        guard !task.callers().isEmpty else { return }
        var outcome = result.map { task.sharedData }
        if let delegate = downloader.delegate { tell(delegate, of: &outcome) }
        deliver(outcome.map { LoadedData($0, of: task) })
    }

    /// Lets the delegate change the body, and reports the end to it.
    private func tell(
        _ delegate: any ImageDownloaderDelegate, of outcome: inout Result<Data, KingfisherError>
    ) {
        if case .success(let received) = outcome {
            // A redirect is not the end.
            if case .redirected = task.stage { return }
            if !task.hasNoContent {
                outcome =
                    delegate.imageDownloader(downloader, didDownload: received, with: task)
                    .map { .success($0) }
                    ?? .failure(.responseError(reason: .dataModifyingFailed(task: task)))
            }
        }
        guard let url = task.originalURL else { return }
        let error: KingfisherError? = if case .failure(let error) = outcome { error } else { nil }
        delegate.imageDownloader(
            downloader, didFinishDownloadingImageForURL: url, with: task.response, error: error)
    }

    /// Delivers the outcome. From here on no caller can join; those that retain the URL find the
    /// result.
    private func deliver(_ outcome: Result<LoadedData, KingfisherError>) {
        let kept = try? outcome.get()
        for waiter in downloader.downloads.finish(id, keeping: isForLatecomers ? kept : nil) {
            waiter.completion(outcome.map { $0.limited(by: waiter.limits) })
        }
    }

    /// Whether requests that began before the end, but have not joined yet, also get the response:
    /// not if it is only for the callers that did.
    private var isForLatecomers: Bool {
        guard let answer = task.answer, let request = task.currentRequest, let url = request.url
        else { return true }
        let storing = HTTPCachePolicy(caching).storing(
            HTTPCacheRequest(request, to: url).answered(by: answer), status: answer.status,
            fields: answer.fields, requested: answer.requested, received: answer.received)
        guard case .refuse(let refusal) = storing else { return true }
        return !refusal.isForTheCallersOnly
    }
}

extension StorageRefusal {
    /// Whether the response must not be given to other callers.
    fileprivate var isForTheCallersOnly: Bool {
        switch self {
        case .requestNoStore, .responseNoStore, .notUnderstood, .privateToOneUser, .authorization,
            .varyAny:
            true
        default: false
        }
    }
}

/// Runs `body`, which calls the program's own code, off the network threads, where it would block
/// others.
private func awayFromNetwork<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    try await withTaskExecutorPreference(globalConcurrentExecutor, operation: body)
}

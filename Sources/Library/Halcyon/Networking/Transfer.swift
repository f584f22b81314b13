import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonPixels
import HalcyonWork

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
                switch answer.next {
                case nil:
                    let ending = try resumable?.answerEnded() ?? .whole(nil)
                    guard case .whole(let head) = ending else { continue }
                    setMetrics(
                        start: start, times: times, redirectCount: redirectCount,
                        resumedByteCount: resumable?.resumedByteCount ?? 0)
                    if let head { task.setHead(head, reserving: 0) }
                    return try checkCodings()
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

    /// Bytes in codings that nobody knows are taken as they are when they are a picture; else they are in
    /// that coding, or nothing that was wanted.
    private func checkCodings() throws {
        guard let unknown = task.head?.codings.unknown, !unknown.isEmpty,
            ImageSniffer.format(of: task.sharedData) == .unknown
        else { return }
        throw ImageTransportError.undecodableBody(
            url: task.originalURL?.absoluteString ?? "",
            reason: "its content encoding is \(unknown.joined(separator: ", "))")
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
        deliver(outcome.map { LoadedData($0, of: task) })
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
    private func deliver(_ outcome: Result<LoadedData, KingfisherError>) {
        let kept = try? outcome.get()
        for waiter in downloader.downloads.finish(id, keeping: isForLatecomers ? kept : nil) {
            waiter.completion(outcome.map { $0.limited(by: waiter.limits) })
        }
    }

    /// Whether those get the answer, too, who have begun before the end but have not asked yet: not where
    /// it is for nobody but those who have asked.
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
    /// Whether the answer must not be given to anybody else.
    fileprivate var isForTheCallersOnly: Bool {
        switch self {
        case .requestNoStore, .responseNoStore, .notUnderstood, .privateToOneUser, .authorization,
            .varyAny:
            true
        default: false
        }
    }
}

import Foundation
import FoundationNetworking
import Synchronization

/// One transfer from the first request to the last byte, for all callers that share it.
final class Transfer: Sendable {
    /// Redirects that are followed at most.
    static let redirectLimit = 10
    /// The most that is reserved because a header says so; longer bodies grow as they arrive.
    private static let reservationLimit = 32 * 1024 * 1024

    let id: Int
    let identity: DownloadIdentity
    let task: SessionDataTask
    let downloader: ImageDownloader
    let settings: DownloaderSettings
    let redirectHandler: (any ImageDownloadRedirectHandler)?

    init(
        id: Int, identity: DownloadIdentity, task: SessionDataTask, downloader: ImageDownloader,
        settings: DownloaderSettings, redirectHandler: (any ImageDownloadRedirectHandler)?
    ) {
        self.id = id
        self.identity = identity
        self.task = task
        self.downloader = downloader
        self.settings = settings
        self.redirectHandler = redirectHandler
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
        let display = ProgressiveDisplay(
            task: task, clock: settings.progressiveClock,
            waiters: { [downloader, id] in
                downloader.downloads.withLock { $0.table.waiters(of: id) }
            })
        defer { display.end() }
        let authenticator = Authenticator(downloader: downloader, task: task)
        var request = first
        var redirectCount = 0
        while true {
            let answer = ReceivedAnswer(
                transfer: self, request: request, authenticator: authenticator,
                progress: progress, display: display)
            let terms = ExchangeTerms(
                stall: settings.stallTimeout(of: request), deadline: deadline,
                priority: task.transferPriority,
                trustsAnyCertificate: settings.trustsAnyCertificate(of: request.url?.host))
            let times = try await transport.perform(
                authenticator.authorized(request), terms: terms, onResponse: answer.receive,
                onBody: answer.receive)
            switch answer.sequel {
            case nil:
                return setMetrics(start: start, times: times, redirectCount: redirectCount)
            case .authenticate:
                continue
            case .redirect(let next):
                redirectCount += 1
                guard redirectCount <= Self.redirectLimit else {
                    throw ImageTransportError.tooManyRedirects(
                        url: first.url?.absoluteString ?? "", limit: Self.redirectLimit)
                }
                request = next
                task.setCurrentRequest(next)
            }
        }
    }

    private func setMetrics(
        start: ContinuousClock.Instant, times: ExchangeTimes?, redirectCount: Int
    ) {
        guard let status = task.head?.status, (200...299).contains(status) else { return }
        task.setMetrics(
            NetworkMetrics(
                start: start, end: ContinuousClock().now, times: times,
                sentByteCount: task.currentRequest?.httpBody?.count ?? 0,
                receivedByteCount: task.receivedCount, statusCode: status,
                redirectCount: redirectCount))
    }

    /// How much room is made for a body whose header says `expected` bytes.
    func reservation(for expected: Int64) -> Int {
        let limit = min(settings.client.maximumResponseSize ?? .max, Self.reservationLimit)
        return Int(min(max(0, expected), Int64(limit)))
    }

    /// Ends the transfer and serves its callers, also those that join while the delegate is asked.
    private func finish(_ result: Result<Void, KingfisherError>) {
        // All have cancelled, and have been told.
        guard downloader.downloads.withLock({ !$0.table.waiters(of: id).isEmpty }) else { return }
        var outcome = result.map { task.sharedData }
        if let delegate = downloader.delegate { tell(delegate, of: &outcome) }
        deliver(
            outcome.map { data in
                DownloadedData(
                    data: data, url: task.originalURL,
                    metrics: task.metrics, limits: .default, sessionTask: task,
                    processing: ImageProcessingStage(data: data), isOnDecodingThread: false)
            })
    }

    /// Lets the delegate change the body, and tells it of the end.
    private func tell(
        _ delegate: any ImageDownloaderDelegate, of outcome: inout Result<Data, KingfisherError>
    ) {
        var error: KingfisherError?
        switch outcome {
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

    /// From here on no caller can join; those that asked before find the result settled.
    private func deliver(_ outcome: Result<DownloadedData, KingfisherError>) {
        let waiters = downloader.downloads.withLock { downloads in
            let waiters = downloads.table.finish(id)
            if case .success(let downloaded) = outcome {
                for url in Set(waiters.compactMap(\.interest?.url)) {
                    downloads.settled.settle(downloaded, for: identity, of: url)
                }
            }
            return waiters
        }
        for waiter in waiters {
            // Several may want different images, which are made side by side.
            waiter.completion(
                outcome.map {
                    $0.delivered(limits: waiter.limits, isOnDecodingThread: waiters.count == 1)
                })
        }
    }
}

public import Foundation
import FoundationNetworking
import HalcyonWork
import Synchronization

extension ImageDownloader {
    /// Starts (or joins) a download before it returns, unless an asynchronous modifier has to run
    /// first.
    ///
    /// `handle` is linked to the download; cancelling it completes this caller with `taskCancelled`.
    /// - Parameters:
    ///   - progress: Called on the main queue.
    ///   - retention: Lets the request be served by a download that has ended since the request
    ///     began; `handle` is then not linked.
    ///   - hop: The request to send instead of a plain one for `url`; the modifier has already been
    ///     applied.
    ///   - completion: Called exactly once, on any thread.
    func start(
        url: URL, options: KingfisherParsedOptionsInfo, progress: MainQueueProgress?,
        viewer: ProgressiveViewer? = nil, handle: DownloadTask,
        retention: Downloads.Retention? = nil,
        hop: DownloadHop? = nil,
        completion: @escaping @Sendable (Result<LoadedData, KingfisherError>) -> Void
    ) {
        handle.adopt(options.downloadPriority)
        let waiter = DownloadWaiter(
            handle: handle, limits: options.decodingLimits ?? decodingLimits,
            progress: progress, viewer: viewer, size: options.makeAnnouncement(),
            completion: completion)

        if let hop { return begin(hop.request, hop, options, waiter, retention) }
        prepare(url, by: options.requestModifier, for: handle) { [self] prepared in
            switch prepared {
            case .success(let request): begin(request, nil, options, waiter, retention)
            case .failure(let error): waiter.completion(.failure(error))
            }
        }
    }

    /// Makes the request for `url`, as changed by the modifier; `nil` if the modifier returns none.
    /// Completes before this returns, unless the modifier is asynchronous.
    ///
    /// - Parameter completion: Called once; with `taskCancelled` when `handle` is cancelled while the
    ///   modifier runs.
    func prepare(
        _ url: URL, by modifier: (any AsyncImageDownloadRequestModifier)?, for handle: DownloadTask,
        completion: @escaping @Sendable (Result<URLRequest?, KingfisherError>) -> Void
    ) {
        let request = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: downloadTimeout)
        switch modifier {
        case nil:
            completion(.success(request))
        case let modifier as any ImageDownloadRequestModifier:
            let modified: (URLRequest) -> URLRequest? = modifier.modified(for:)
            completion(.success(modified(request)))
        case let modifier?:
            let id = ObjectIdentifier(handle)
            preparations.withLock { $0[id] = (url, handle) }
            // The first to give the decision completes.
            let decision = OneShot<Void>()
            let end: @Sendable (Result<URLRequest?, KingfisherError>) -> Void = { [self] result in
                guard decision.give(()) else { return }
                preparations.withLock { $0[id] = nil }
                completion(result)
            }
            let task = Task { end(.success(await modifier.modified(for: request))) }
            handle.onCancel(before: decision) {
                task.cancel()
                end(.failure(.neverStarted(request)))
            }
        }
    }

    private func begin(
        _ request: URLRequest?, _ hop: DownloadHop?, _ options: KingfisherParsedOptionsInfo,
        _ waiter: DownloadWaiter, _ retention: Downloads.Retention?
    ) {
        let settings = currentSettings
        let request = request.map(settings.completed)
        guard let request, let url = request.url else {
            return waiter.completion(.failure(.unusable(request)))
        }
        if let error = refusal(of: request, to: url, options, settings, waiter.handle) {
            return waiter.completion(.failure(error))
        }
        let join = downloads.join(
            waiter, for: DownloadKey(request, isHop: hop != nil), during: retention,
            priority: waiter.handle.priority
        ) { transfer in
            SessionDataTask(request: request, hop: hop) { [self] in
                downloads.callers(of: transfer)
            } leave: { [self] token in
                leave(Downloads.Ticket(work: transfer, token: token))
            } reprioritized: { [self] token, priority in
                downloads.setPriority(
                    priority, of: Downloads.Ticket(work: transfer, token: token))
            }
        }
        switch join {
        case .done(let loaded):
            waiter.completion(.success(loaded.limited(by: waiter.limits)))
        case .share(let task, let ticket):
            link(waiter, to: task, ticket, options)
        case .start(let task, let ticket):
            link(waiter, to: task, ticket, options)
            // The handle may have been cancelled before; other callers may still have joined.
            guard !task.isTransferCancelled else { return }
            if hop?.redirectCount ?? 0 == 0 {
                let observer: any ImageDownloaderDelegate =
                    delegate ?? DefaultImageDownloaderDelegate.shared
                observer.imageDownloader(self, willDownloadImageForURL: url, with: request)
            }
            let transfer = Transfer(
                id: ticket.work, task: task, downloader: self, settings: settings,
                options: options)
            task.run { await transfer.run(request) }
        }
    }

    /// The reason not to send the request; `nil` if there is none.
    private func refusal(
        of request: URLRequest, to url: URL, _ options: KingfisherParsedOptionsInfo,
        _ settings: DownloaderSettings, _ handle: DownloadTask
    ) -> KingfisherError? {
        if url.absoluteString.isEmpty { return .unusable(request) }
        if !HTTPURL.isDownloadable(url) {
            return .transport(ImageTransportError.unsupportedURL(url.absoluteString))
        }
        if handle.isCancelled { return .neverStarted(request) }
        if options.lowDataModeSource != nil, settings.isLowDataModeActive() {
            return .transport(ImageTransportError.lowDataMode(url: url.absoluteString))
        }
        if settings.honorsServerPause, let end = serverPause(for: url) {
            return .transport(
                ImageTransportError.pausedByServer(url: url.absoluteString, until: end))
        }
        return nil
    }

    private func link(
        _ waiter: DownloadWaiter, to task: SessionDataTask, _ ticket: Downloads.Ticket,
        _ options: KingfisherParsedOptionsInfo
    ) {
        let size = task.add(waiter.listeners)
        waiter.handle.link(to: task, token: ticket.token)
        if let size { waiter.size?.tell(size) }
        options.requestModifier?.onDownloadTaskStarted?(waiter.handle)
    }

    /// Removes a caller from its download; the last one cancels the transfer.
    private func leave(_ ticket: Downloads.Ticket) {
        guard let (task, waiter) = downloads.leave(ticket) else { return }
        let error = KingfisherError.requestError(
            reason: .taskCancelled(task: task, token: ticket.token))
        if let delegate, let url = task.originalURL {
            delegate.imageDownloader(
                self, didFinishDownloadingImageForURL: url, with: task.response, error: error)
        }
        waiter.completion(.failure(error))
    }
}

extension KingfisherError {
    /// The cancellation of a request that has not reached the network.
    static func neverStarted(_ request: URLRequest) -> KingfisherError {
        .requestError(
            reason: .taskCancelled(task: SessionDataTask(request: request), token: 0))
    }

    /// The error of a missing request or one without a URL.
    static func unusable(_ request: URLRequest?) -> KingfisherError {
        guard let request else { return .requestError(reason: .emptyRequest) }
        return .requestError(reason: .invalidURL(request: request))
    }

    static func transport(_ error: any Error) -> KingfisherError {
        .responseError(reason: .URLSessionError(error: error))
    }
}

extension ImageDownloader {
    /// Cancels all callers of all downloads.
    public func cancelAll() {
        cancel { _ in true }
    }

    /// Cancels all callers of the downloads of `url`, as it is after the request modifier.
    public func cancel(url: URL) {
        cancel { $0 == url }
    }

    private func cancel(where matches: (URL?) -> Bool) {
        let tickets = downloads.tickets
        let preparing = preparations.withLock { $0.values.filter { matches($0.url) } }
        for (_, handle) in preparing { handle.cancel() }
        for (task, ticket) in tickets where matches(task.originalURL) { task.cancel(ticket.token) }
    }
}

/// The downloads of a downloader: those in progress, and the results of ended ones while requests
/// for the same URL that began earlier are at work.
///
/// Between the end of a download and the storing of its image, a request that missed in the cache
/// would find no running download either, and load the same again. So a request retains the results
/// for its URL before it looks into the cache.
typealias Downloads = WorkTable<
    URL, DownloadKey, SessionDataTask, DownloadWaiter, LoadedData
>

/// The identity of a download: method, URL, header fields and body.
///
/// Every header field counts, as any of them may change the response.
struct DownloadKey: Hashable, Sendable {
    let url: String
    let method: String
    let headers: [String: String]
    let body: Data?
    /// Whether a redirect ends the download.
    let isHop: Bool

    init(_ request: URLRequest, isHop: Bool) {
        self.isHop = isHop
        url = request.url?.absoluteString ?? ""
        method = request.httpMethod ?? "GET"
        headers = Dictionary(
            (request.allHTTPHeaderFields ?? [:]).map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first })
        body = request.httpBody
    }
}

/// A download on behalf of the HTTP cache: redirects are returned instead of followed, for each of
/// them is a request of its own.
struct DownloadHop: Sendable {
    /// The request, with the cache's own fields.
    let request: URLRequest
    /// The URL of the first request in the chain, which is the one the program knows.
    let firstURL: URL
    let redirectCount: Int
    /// Whether the request revalidates a stored response, so that a `304` is valid.
    let isConditional: Bool
}

/// A response, in the form that the cache needs.
struct DownloadAnswer: Sendable {
    let status: Int
    let fields: HTTPFields
    /// The time of sending the request; `received` is the arrival of the response header.
    let requested: Date
    let received: Date
    let redirect: URLRequest?
    /// The `Authorization` of the final request: the program's own, or the answer to a challenge.
    let credentials: String?
    let body: Data
}

struct DownloadWaiter: Sendable {
    let handle: DownloadTask
    let limits: DecodingLimits
    let progress: MainQueueProgress?
    var viewer: ProgressiveViewer?
    var size: SizeAnnouncement?
    let completion: @Sendable (Result<LoadedData, KingfisherError>) -> Void

    var listeners: SessionDataTask.Listeners {
        var listeners: SessionDataTask.Listeners = []
        if viewer != nil { listeners.insert(.pictures) }
        if progress != nil { listeners.insert(.progress) }
        if size != nil { listeners.insert(.size) }
        return listeners
    }
}

struct MainQueueProgress: @unchecked Sendable {
    // Unchecked because the block is not `Sendable`; it is only ever called on the main queue.

    let block: DownloadProgressBlock

    init?(_ block: DownloadProgressBlock?) {
        guard let block else { return nil }
        self.block = block
    }
}

import Foundation
import FoundationNetworking
import Synchronization

extension ImageDownloader {
    /// Starts (or joins) a download before it returns, unless an asynchronous modifier has to run
    /// first.
    ///
    /// `handle` is linked to the download; cancelling it completes this caller with `taskCancelled`.
    /// - Parameters:
    ///   - progress: Called on the main queue.
    ///   - viewer: Who is shown a progressive JPEG meanwhile.
    ///   - interest: Lets the request be served by a download that has ended since it was declared;
    ///     `handle` is then not linked.
    ///   - completion: Called exactly once, on any thread.
    func start(
        url: URL, options: KingfisherParsedOptionsInfo, progress: DownloadProgressBlock?,
        viewer: ProgressiveViewer? = nil, handle: DownloadTask,
        interest: Downloads.Settled.Interest? = nil,
        completion: @escaping @Sendable (Result<DownloadedData, KingfisherError>) -> Void
    ) {
        let request = URLRequest(
            url: url, cachePolicy: .reloadIgnoringLocalCacheData,
            timeoutInterval: downloadTimeout)
        handle.adopt(options.downloadPriority)
        let waiter = DownloadWaiter(
            handle: handle, limits: options.decodingLimits ?? decodingLimits,
            interest: interest, progress: MainQueueProgress(progress), viewer: viewer,
            completion: completion)

        switch options.requestModifier {
        case nil:
            begin(request, options, waiter)
        case let modifier as any ImageDownloadRequestModifier:
            let modified: (URLRequest) -> URLRequest? = modifier.modified(for:)
            begin(modified(request), options, waiter)
        case let modifier?:
            prepare(request, with: modifier, url: url, options, waiter)
        }
    }

    /// Waits for an asynchronous modifier and begins the download then, unless it is cancelled first.
    private func prepare(
        _ request: URLRequest, with modifier: any AsyncImageDownloadRequestModifier, url: URL,
        _ options: KingfisherParsedOptionsInfo, _ waiter: DownloadWaiter
    ) {
        let handle = waiter.handle
        let id = downloads.withLock { $0.prepare(url, handle) }
        // Whoever takes the waiter out decides how the request goes on.
        let box = PendingWaiter(waiter)
        let task = Task {
            let modified = await modifier.modified(for: request)
            guard let waiter = box.take() else { return }
            self.endPreparation(id)
            self.begin(modified, options, waiter)
        }
        let action = handle.onCancel {
            task.cancel()
            guard let waiter = box.take() else { return }
            self.endPreparation(id)
            waiter.completion(.failure(.neverStarted(request)))
        }
        box.onTake { handle.removeCancelAction(action) }
    }

    private func endPreparation(_ id: Int) {
        _ = downloads.withLock { $0.preparing.removeValue(forKey: id) }
    }

    /// Joins the running download for `request` or starts one.
    private func begin(
        _ request: URLRequest?, _ options: KingfisherParsedOptionsInfo, _ waiter: DownloadWaiter
    ) {
        let settings = currentSettings
        guard let request = request.map(settings.completed) else {
            return waiter.completion(.failure(.requestError(reason: .emptyRequest)))
        }
        guard let url = request.url, !url.absoluteString.isEmpty else {
            return waiter.completion(
                .failure(.requestError(reason: .invalidURL(request: request))))
        }
        guard HTTPURL.isDownloadable(url) else {
            return waiter.completion(
                .failure(.transport(ImageTransportError.unsupportedURL(url.absoluteString))))
        }
        guard !waiter.handle.isCancelled else {
            return waiter.completion(.failure(.neverStarted(request)))
        }
        guard options.lowDataModeSource == nil || !settings.isLowDataModeActive() else {
            return waiter.completion(
                .failure(.transport(ImageTransportError.lowDataMode(url: url.absoluteString))))
        }

        let identity = DownloadIdentity(request)
        let start = downloads.withLock { downloads -> Start in
            if let interest = waiter.interest,
                let settled = downloads.settled.value(for: identity, to: interest)
            {
                return .settled(settled)
            }
            let join = downloads.table.join(waiter, for: identity) { transfer in
                SessionDataTask(request: request) { [self] token in
                    leave(Downloads.Table.Ticket(transfer: transfer, token: token))
                } reprioritized: { [self] task in
                    updatePriority(of: task, transfer)
                }
            }
            join.transfer.transferPriority.raise(
                to: waiter.handle.priority, isFirst: join.isStart)
            return .join(join)
        }
        switch start {
        case .settled(let downloaded):
            waiter.completion(
                .success(
                    downloaded.delivered(limits: waiter.limits, isOnDecodingThread: false)))
        case .join(let join):
            carryOut(join, of: waiter, request, identity, options, settings)
        }
    }

    /// How a request is served.
    private enum Start {
        /// By a download that has ended already.
        case settled(DownloadedData)
        case join(Downloads.Table.Join)
    }

    private func carryOut(
        _ join: Downloads.Table.Join, of waiter: DownloadWaiter, _ request: URLRequest,
        _ identity: DownloadIdentity, _ options: KingfisherParsedOptionsInfo,
        _ settings: DownloaderSettings
    ) {
        if waiter.viewer != nil { join.transfer.addViewer() }
        if waiter.progress != nil { join.transfer.addProgress() }
        let onStarted = options.requestModifier?.onDownloadTaskStarted
        switch join {
        case .share(let task, let ticket):
            task.transferPriority.announce()
            waiter.handle.link(to: task, token: ticket.token)
            onStarted?(waiter.handle)
        case .start(let task, let ticket):
            waiter.handle.link(to: task, token: ticket.token)
            onStarted?(waiter.handle)
            // The handle may have been cancelled before; others may still have joined.
            guard !task.isTransferCancelled else { return }
            if let url = request.url {
                eventDelegate.imageDownloader(self, willDownloadImageForURL: url, with: request)
            }
            let transfer = Transfer(
                id: ticket.transfer, identity: identity, task: task, downloader: self,
                settings: settings, redirectHandler: options.redirectHandler)
            task.run { await transfer.run(request) }
        }
    }

    /// Declares interest in what `url` brings, before a look into the cache; `end(_:)` has to follow.
    func beginInterest(in url: URL) -> Downloads.Settled.Interest {
        downloads.withLock { $0.settled.begin(url) }
    }

    /// Takes an interest back.
    func end(_ interest: Downloads.Settled.Interest) {
        downloads.withLock { $0.settled.end(interest) }
    }

    /// Makes a download as urgent as its callers are now.
    private func updatePriority(of task: SessionDataTask, _ transfer: Int) {
        downloads.withLock { $0.updatePriority(of: task, transfer) }
        task.transferPriority.announce()
    }

    /// Takes a caller out of its download; the last one cancels the transfer.
    private func leave(_ ticket: Downloads.Table.Ticket) {
        let (task, waiter): (SessionDataTask, DownloadWaiter)
        let leave = downloads.withLock { downloads in
            let leave = downloads.table.leave(ticket)
            if case .keep(let task, let leaver) = leave {
                downloads.lowerPriority(of: task, ticket.transfer, without: leaver)
            }
            return leave
        }
        switch leave {
        case .none:
            return
        case .keep(let left, let leaver):
            (task, waiter) = (left, leaver)
            task.transferPriority.announce()
        case .cancel(let left, let leaver):
            (task, waiter) = (left, leaver)
            task.cancelTransfer()
        }
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

    /// A failure of the transfer.
    static func transport(_ error: any Error) -> KingfisherError {
        .responseError(reason: .URLSessionError(error: error))
    }
}

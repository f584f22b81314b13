public import Foundation

extension ImageDownloader {
    /// Downloads and processes an image. Cancelling the task cancels this caller's share.
    ///
    /// - Throws: `KingfisherError`, or `CancellationError` when the task was cancelled before.
    public func downloadImage(with url: URL, options: KingfisherParsedOptionsInfo) async throws
        -> ImageLoadingResult
    {
        try await load(url, options, progress: nil)
    }

    /// Downloads and processes an image. Cancelling the task cancels this caller's share.
    ///
    /// - Parameter progressBlock: Called on the main queue when bytes have arrived, if the total is
    ///   known.
    /// - Throws: `KingfisherError`, or `CancellationError` when the task was cancelled before.
    public func downloadImage(
        with url: URL, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws -> ImageLoadingResult {
        try await load(url, KingfisherParsedOptionsInfo(options), progress: progressBlock)
    }

    /// Downloads and processes an image. Cancelling the task cancels this caller's share.
    ///
    /// - Throws: `KingfisherError`, or `CancellationError` when the task was cancelled before.
    public func downloadImage(with url: URL, options: KingfisherOptionsInfo? = nil) async throws
        -> ImageLoadingResult
    {
        try await load(url, KingfisherParsedOptionsInfo(options), progress: nil)
    }
}

extension ImageDownloader {
    /// `start`, awaited. Cancelling the task cancels `handle`.
    func download(
        url: URL, options: KingfisherParsedOptionsInfo, progress: DownloadProgressBlock?,
        handle: DownloadTask
    ) async throws(KingfisherError) -> DownloadedData {
        let result = await withTaskCancellationHandler {
            await handedOver { hand in
                start(
                    url: url, options: options, progress: progress, handle: handle,
                    completion: hand)
            }
        } onCancel: {
            handle.cancel()
        }
        return try result.get()
    }

    private func load(
        _ url: URL, _ options: KingfisherParsedOptionsInfo, progress: DownloadProgressBlock?
    ) async throws -> ImageLoadingResult {
        try Task.checkCancellation()
        let handle = DownloadTask()
        let result = await withTaskCancellationHandler {
            await handedOver { hand in
                start(url: url, options: options, progress: progress, handle: handle) {
                    self.makeResult($0, options, completion: hand)
                }
            }
        } onCancel: {
            handle.cancel()
        }
        do {
            return try result.get()
        } catch {
            throw error.isTaskCancelled && !handle.isInitialized
                ? .requestError(reason: .asyncTaskContextCancelled) : error
        }
    }

    /// `downloadImage` with callbacks.
    func load(
        _ url: URL, _ options: KingfisherParsedOptionsInfo, progress: DownloadProgressBlock?,
        handle: DownloadTask,
        completion: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)?
    ) {
        start(url: url, options: options, progress: progress, handle: handle) { outcome in
            self.makeResult(outcome, options) { result in
                options.callbackQueue.execute { completion?(result) }
            }
        }
    }

    /// Processes what was downloaded, for one caller: straight from the thread that brought it, so that
    /// the caller is woken once.
    private func makeResult(
        _ outcome: Result<DownloadedData, KingfisherError>, _ options: KingfisherParsedOptionsInfo,
        completion: @escaping @Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void
    ) {
        switch outcome {
        case .failure(let error):
            completion(.failure(error))
        case .success(let downloaded):
            downloaded.makeImage(options) { image in
                completion(image.map { self.loaded($0, downloaded) })
            }
        }
    }

    private func loaded(_ image: Image, _ downloaded: DownloadedData) -> ImageLoadingResult {
        if let delegate, let url = downloaded.url {
            delegate.imageDownloader(
                self, didDownload: image, for: url, with: downloaded.sessionTask.response)
        }
        return ImageLoadingResult(
            image: image, url: downloaded.url, originalData: downloaded.data,
            metrics: downloaded.metrics)
    }
}

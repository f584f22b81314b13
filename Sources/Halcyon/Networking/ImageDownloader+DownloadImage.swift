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
            await withCheckedContinuation { continuation in
                start(url: url, options: options, progress: progress, handle: handle) {
                    continuation.resume(returning: $0)
                }
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
        let downloaded: DownloadedData
        do {
            downloaded = try await download(
                url: url, options: options, progress: progress, handle: handle)
        } catch {
            throw error.isTaskCancelled && !handle.isInitialized
                ? .requestError(reason: .asyncTaskContextCancelled) : error
        }
        return try await makeResult(downloaded, options)
    }

    /// `downloadImage` with callbacks.
    func load(
        _ url: URL, _ options: KingfisherParsedOptionsInfo, progress: DownloadProgressBlock?,
        handle: DownloadTask,
        completion: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)?
    ) {
        start(url: url, options: options, progress: progress, handle: handle) { result in
            switch result {
            case .failure(let error):
                options.callbackQueue.execute { completion?(.failure(error)) }
            case .success(let downloaded):
                Task {
                    let result: Result<ImageLoadingResult, KingfisherError>
                    do throws(KingfisherError) {
                        result = .success(try await self.makeResult(downloaded, options))
                    } catch {
                        result = .failure(error)
                    }
                    options.callbackQueue.execute { completion?(result) }
                }
            }
        }
    }

    /// Processes what was downloaded, for one caller.
    private func makeResult(_ downloaded: DownloadedData, _ options: KingfisherParsedOptionsInfo)
        async throws(KingfisherError) -> ImageLoadingResult
    {
        var options = options
        options.decodingLimits = downloaded.limits
        let image = try await downloaded.processing.image(options)
        if let url = downloaded.url {
            eventDelegate.imageDownloader(
                self, didDownload: image, for: url, with: downloaded.response)
        }
        return ImageLoadingResult(
            image: image, url: downloaded.url, originalData: downloaded.data,
            metrics: downloaded.metrics)
    }
}

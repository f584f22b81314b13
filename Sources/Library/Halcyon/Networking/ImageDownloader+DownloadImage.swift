public import Foundation
import HalcyonWork

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
    /// `progressBlock` is called on the main queue when bytes have arrived, if the total is known.
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
    /// Downloads a file and reads its metadata; nothing is decoded, and nothing cached.
    ///
    /// Cancelling the task cancels this caller's share of the download.
    /// - Throws: `KingfisherError`, `ImageCodingError` for a file that cannot be read, or
    ///   `CancellationError` when the task was cancelled before.
    public func information(
        of url: URL, options: KingfisherOptionsInfo? = nil
    ) async throws -> ImageInformation {
        try Task.checkCancellation()
        let downloaded = try await download(
            url: url, options: KingfisherParsedOptionsInfo(options), progress: nil,
            handle: DownloadTask())
        let result = await DecodingPool.shared.run {
            Result { () throws(ImageCodingError) in try ImageInformation(of: downloaded.data) }
        }
        return try result.get()
    }
}

extension ImageDownloader {
    /// Whether methods may be overridden and must be called; the class itself is used directly.
    var isSubclass: Bool { type(of: self) != ImageDownloader.self }

    /// Awaits `start`. Cancelling the task cancels `handle`.
    func download(
        url: URL, options: KingfisherParsedOptionsInfo, progress: DownloadProgressBlock?,
        handle: DownloadTask
    ) async throws(KingfisherError) -> LoadedData {
        let result = await withTaskCancellationHandler {
            await handedOver { hand in
                start(
                    url: url, options: options, progress: MainQueueProgress(progress),
                    handle: handle, completion: hand)
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
                startLoading(
                    url, options, MainQueueProgress(progress), handle, completion: hand)
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

    func load(
        _ url: URL, _ options: KingfisherParsedOptionsInfo, progress: MainQueueProgress?,
        handle: DownloadTask,
        completion: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)?
    ) {
        options.callbackQueue.deliver(to: completion) { hand in
            startLoading(url, options, progress, handle, completion: hand)
        }
    }

    /// Downloads and then makes the image without returning to the caller in between, so that it is
    /// woken only once.
    private func startLoading(
        _ url: URL, _ options: KingfisherParsedOptionsInfo, _ progress: MainQueueProgress?,
        _ handle: DownloadTask,
        completion: @escaping @Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void
    ) {
        start(
            url: url, options: options, progress: progress, viewer: options.watcher?.viewer,
            handle: handle
        ) { outcome in
            switch outcome {
            case .failure(let error):
                completion(.failure(error))
            case .success(let downloaded):
                downloaded.makeImage(
                    options, for: handle,
                    completion: { image in
                        completion(image.map { self.loaded($0, downloaded) })
                    })
            }
        }
    }

    private func loaded(_ image: Image, _ downloaded: LoadedData) -> ImageLoadingResult {
        if let delegate, let url = downloaded.url {
            delegate.imageDownloader(
                self, didDownload: image, for: url, with: downloaded.task?.response)
        }
        return ImageLoadingResult(
            image: image, url: downloaded.url, originalData: downloaded.data,
            metrics: downloaded.metrics)
    }
}

/// A downloaded image.
public struct ImageLoadingResult: Sendable {
    /// The image, as the processor made it.
    public let image: KFCrossPlatformImage
    /// The URL that was requested, after the request modifier.
    public let url: URL?
    /// The bytes of the image file.
    public let originalData: Data
    /// The metrics of the download.
    public let metrics: NetworkMetrics?

    public init(
        image: KFCrossPlatformImage, url: URL? = nil, originalData: Data,
        metrics: NetworkMetrics? = nil
    ) {
        self.image = image
        self.url = url
        self.originalData = originalData
        self.metrics = metrics
    }
}

/// A downloaded file of a live photo.
public struct LivePhotoResourceDownloadingResult: Sendable {
    /// The bytes of the file.
    public let originalData: Data
    /// The URL that was requested, after the request modifier; a data provider's content URL.
    public let url: URL?

    public init(originalData: Data, url: URL? = nil) {
        self.originalData = originalData
        self.url = url
    }
}

extension ImageDownloader {
    /// Downloads a file of a live photo, without decoding or processing it.
    ///
    /// `completionHandler` is called exactly once, on the options' callback queue, after this has returned.
    /// - Returns: The caller's share of the download; see `downloadImage`.
    @discardableResult
    public func downloadLivePhotoResource(
        with url: URL, options: KingfisherParsedOptionsInfo,
        completionHandler: (
            @Sendable (Result<LivePhotoResourceDownloadingResult, KingfisherError>) -> Void
        )? = nil
    ) -> DownloadTask {
        let handle = DownloadTask()
        options.callbackQueue.deliver(to: completionHandler) { hand in
            start(url: url, options: options, progress: nil, handle: handle) { result in
                hand(
                    result.map {
                        LivePhotoResourceDownloadingResult(originalData: $0.data, url: $0.url)
                    })
            }
        }
        return handle
    }

    /// Downloads a file of a live photo, without decoding or processing it. Cancelling the task
    /// cancels this caller's share.
    ///
    /// - Throws: `KingfisherError`, or `CancellationError` when the task was cancelled before.
    public func downloadLivePhotoResource(
        with url: URL, options: KingfisherParsedOptionsInfo
    ) async throws -> LivePhotoResourceDownloadingResult {
        try await downloadLivePhotoResource(with: url, options: options, progress: nil)
    }

    func downloadLivePhotoResource(
        with url: URL, options: KingfisherParsedOptionsInfo, progress: DownloadProgressBlock?
    ) async throws -> LivePhotoResourceDownloadingResult {
        try Task.checkCancellation()
        let downloaded = try await download(
            url: url, options: options, progress: progress, handle: DownloadTask())
        return LivePhotoResourceDownloadingResult(
            originalData: downloaded.data, url: downloaded.url)
    }
}

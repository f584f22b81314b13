public import Foundation

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

    /// `downloadLivePhotoResource`, with progress on the main queue.
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

public import Foundation
public import FoundationNetworking

/// Told of an image downloader's work, and asked about it. Every method has a default.
///
/// Methods run on the thread the event happens on and should be quick. Events come once per download,
/// however many callers share it, except where noted.
public protocol ImageDownloaderDelegate: AnyObject {
    /// A download is about to begin; on the thread of the caller that starts it.
    func imageDownloader(
        _ downloader: ImageDownloader, willDownloadImageForURL url: URL, with request: URLRequest?)

    /// A download has ended, with an error or with a body that is going to be processed. Also called
    /// for each caller that cancels.
    func imageDownloader(
        _ downloader: ImageDownloader, didFinishDownloadingImageForURL url: URL,
        with response: URLResponse?, error: (any Error)?)

    /// The data to use in place of a downloaded body; `nil` fails the download with
    /// `dataModifyingFailed`. By default asks the variant with a URL.
    func imageDownloader(
        _ downloader: ImageDownloader, didDownload data: Data, with task: SessionDataTask
    ) -> Data?

    /// The data to use in place of a downloaded body; `nil` fails the download with
    /// `dataModifyingFailed`. Not called when the variant with a task is implemented.
    func imageDownloader(
        _ downloader: ImageDownloader, didDownload data: Data, for url: URL
    ) -> Data?

    /// An image has been made for a caller of `downloadImage`; once per caller.
    func imageDownloader(
        _ downloader: ImageDownloader, didDownload image: KFCrossPlatformImage, for url: URL,
        with response: URLResponse?)

    /// Whether an answer with this status code is used; 200..<400 by default.
    func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool

    /// Whether the body of an answer is received; `.cancel` fails the download with
    /// `cancelledByDelegate`, everything else is `.allow`, the default.
    func imageDownloader(_ downloader: ImageDownloader, didReceive response: URLResponse) async
        -> URLSession.ResponseDisposition
}

extension ImageDownloaderDelegate {
    public func imageDownloader(
        _ downloader: ImageDownloader, willDownloadImageForURL url: URL, with request: URLRequest?
    ) {}

    public func imageDownloader(
        _ downloader: ImageDownloader, didFinishDownloadingImageForURL url: URL,
        with response: URLResponse?, error: (any Error)?
    ) {}

    public func imageDownloader(
        _ downloader: ImageDownloader, didDownload data: Data, with task: SessionDataTask
    ) -> Data? {
        guard let url = task.originalURL else { return data }
        return imageDownloader(downloader, didDownload: data, for: url)
    }

    public func imageDownloader(
        _ downloader: ImageDownloader, didDownload data: Data, for url: URL
    ) -> Data? {
        data
    }

    public func imageDownloader(
        _ downloader: ImageDownloader, didDownload image: KFCrossPlatformImage, for url: URL,
        with response: URLResponse?
    ) {}

    public func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool {
        (200..<400).contains(code)
    }

    public func imageDownloader(_ downloader: ImageDownloader, didReceive response: URLResponse)
        async -> URLSession.ResponseDisposition
    {
        .allow
    }
}

/// Used when a downloader has no delegate.
final class DefaultImageDownloaderDelegate: ImageDownloaderDelegate, Sendable {
    static let shared = DefaultImageDownloaderDelegate()
}

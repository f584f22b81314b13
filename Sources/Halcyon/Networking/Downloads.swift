import Foundation
import FoundationNetworking
import HalcyonWork

/// The downloads of a downloader: those under way, and what they brought as long as requests for the URL
/// are at work that came before.
///
/// Between the end of a download and the moment its image is in the cache, a request that has found
/// nothing in the cache would find no running download either, and load the same again. So a request
/// visits the group of its URL before it looks into the cache.
typealias Downloads = WorkTable<
    URL, ResponseKey, SessionDataTask, DownloadWaiter, DownloadedData
>

/// What makes two requests the same download: method, URL, header fields and body.
///
/// Every header field counts: any of them may change what the server answers.
struct ResponseKey: Hashable, Sendable {
    let url: String
    let method: String
    let headers: [String: String]
    let body: Data?

    init(_ request: URLRequest) {
        url = request.url?.absoluteString ?? ""
        method = request.httpMethod ?? "GET"
        headers = Dictionary(
            (request.allHTTPHeaderFields ?? [:]).map { ($0.key.lowercased(), $0.value) },
            uniquingKeysWith: { first, _ in first })
        body = request.httpBody
    }
}

/// A caller that waits for a download.
struct DownloadWaiter: Sendable {
    let handle: DownloadTask
    let limits: DecodingLimits
    let progress: MainQueueProgress?
    /// Who is shown a progressive JPEG meanwhile.
    var viewer: ProgressiveViewer?
    let completion: @Sendable (Result<DownloadedData, KingfisherError>) -> Void
}

/// The bytes of a finished download, as one of its callers gets them.
struct DownloadedData: Sendable {
    let data: Data
    /// The URL that was requested, after the request modifier.
    let url: URL?
    let metrics: NetworkMetrics?
    /// What the downloader refuses to decode for this caller.
    var limits: DecodingLimits
    let sessionTask: SessionDataTask
    /// The data and what is made of it for all callers of the download.
    let material: ImageMaterial

    init(_ data: Data, of task: SessionDataTask) {
        self.data = data
        url = task.originalURL
        metrics = task.metrics
        limits = .default
        sessionTask = task
        material = ImageMaterial(.data(data))
    }

    /// The same for a caller with these limits.
    func limited(by limits: DecodingLimits) -> DownloadedData {
        var copy = self
        copy.limits = limits
        return copy
    }
}

/// Who watches a download that is begun by a public method.
final class DownloadWatcher: Sendable {
    let progress: MainQueueProgress?
    let viewer: ProgressiveViewer?

    init(progress: MainQueueProgress?, viewer: ProgressiveViewer?) {
        self.progress = progress
        self.viewer = viewer
    }
}

/// Requests whose asynchronous modifier is running.
struct Preparations {
    private(set) var handles: [Int: (url: URL, handle: DownloadTask)] = [:]
    private var last = 0

    mutating func begin(_ url: URL, _ handle: DownloadTask) -> Int {
        last += 1
        handles[last] = (url, handle)
        return last
    }

    mutating func end(_ number: Int) {
        handles[number] = nil
    }
}

/// A progress block on its way to the main queue.
struct MainQueueProgress: @unchecked Sendable {
    // Unchecked because the block is not `Sendable`; it is only ever called on the main queue.

    let block: DownloadProgressBlock

    init?(_ block: DownloadProgressBlock?) {
        guard let block else { return nil }
        self.block = block
    }
}

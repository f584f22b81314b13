import Foundation
import FoundationNetworking

/// The bytes of a finished download, as one of its callers gets them.
struct DownloadedData: Sendable {
    let data: Data
    /// The URL that was requested, after the request modifier.
    let url: URL?
    let response: HTTPURLResponse?
    let metrics: NetworkMetrics?
    /// What the downloader refuses to decode.
    let limits: DecodingLimits
    let sessionTask: SessionDataTask
    /// Makes images of `data`, each kind once for all callers of the download.
    let processing: ImageProcessingStage

    /// Makes the image that `options` ask for, within the limits.
    /// - Parameter completion: Called on the thread that made it, or at once when it is made already.
    func makeImage(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true,
        completion: @escaping @Sendable (Result<Image, KingfisherError>) -> Void
    ) {
        var options = options
        options.decodingLimits = limits
        processing.makeImage(options, rendering: rendering, completion: completion)
    }

    /// The same for a caller with other limits.
    func limited(by limits: DecodingLimits) -> DownloadedData {
        DownloadedData(
            data: data, url: url, response: response, metrics: metrics, limits: limits,
            sessionTask: sessionTask, processing: processing)
    }
}

import Foundation

/// The bytes of a finished download, as one of its callers gets them.
struct DownloadedData: Sendable {
    let data: Data
    /// The URL that was requested, after the request modifier.
    let url: URL?
    let metrics: NetworkMetrics?
    /// What the downloader refuses to decode.
    let limits: DecodingLimits
    let sessionTask: SessionDataTask
    /// Makes images of `data`, each kind once for all callers of the download.
    let processing: ImageProcessingStage
    /// Whether this was delivered on a thread of the decoding pool that has nothing else to do, so that
    /// whoever wants an image need not wait for another one.
    let isOnDecodingThread: Bool

    /// Makes the image that `options` ask for, within the limits. Must be called where this was
    /// delivered.
    /// - Parameter completion: Called on the thread that made it, or at once when it is made already.
    func makeImage(
        _ options: KingfisherParsedOptionsInfo, rendering: Bool = true,
        completion: @escaping @Sendable (Result<Image, KingfisherError>) -> Void
    ) {
        var options = options
        options.decodingLimits = limits
        processing.makeImage(
            options, rendering: rendering, isOnDecodingThread: isOnDecodingThread,
            completion: completion)
    }

    /// The same for one caller.
    func delivered(limits: DecodingLimits, isOnDecodingThread: Bool) -> DownloadedData {
        DownloadedData(
            data: data, url: url, metrics: metrics, limits: limits,
            sessionTask: sessionTask, processing: processing,
            isOnDecodingThread: isOnDecodingThread)
    }
}

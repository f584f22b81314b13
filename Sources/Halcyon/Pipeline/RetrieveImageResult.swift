public import Foundation

/// An image that a request delivered, and where it was found.
public struct RetrieveImageResult: Sendable {
    /// The image, with the request's image modifier applied.
    public let image: KFCrossPlatformImage
    /// Where the image was found; `.none` when it was loaded or made of a cached original.
    public let cacheType: CacheType
    /// The source the image came from.
    public let source: Source
    /// The source that was asked for.
    public let originalSource: Source
    /// The bytes: those loaded, or for a cached image what the serializer makes of it. May take as
    /// long as encoding the image.
    public let data: @Sendable () -> Data?
    /// The network measurements of a fresh download.
    public let metrics: NetworkMetrics?

    public init(
        image: KFCrossPlatformImage, cacheType: CacheType, source: Source, originalSource: Source,
        data: @escaping @Sendable () -> Data?, metrics: NetworkMetrics? = nil
    ) {
        self.image = image
        self.cacheType = cacheType
        self.source = source
        self.originalSource = originalSource
        self.data = data
        self.metrics = metrics
    }
}

/// Called with the task that replaces the one before; `nil` when the replacement needs none.
public typealias DownloadTaskUpdatedBlock = @Sendable (_ newTask: DownloadTask?) -> Void

/// Told of bytes received and bytes expected, on the main queue. Called only when the total is known.
public typealias DownloadProgressBlock = (_ receivedSize: Int64, _ totalSize: Int64) -> Void

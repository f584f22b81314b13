public import Foundation

/// A downloaded image.
public struct ImageLoadingResult: Sendable {
    /// The image, as the processor made it.
    public let image: KFCrossPlatformImage
    /// The URL that was requested, after the request modifier.
    public let url: URL?
    /// The bytes the image was made of.
    public let originalData: Data
    /// What was measured of the download.
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

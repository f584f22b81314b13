public import Foundation

/// Stores an image in the format it came in; what cannot be written in that format, or has none, as
/// PNG.
///
/// An image that was decoded and not processed is stored as the bytes it came in, unless a
/// `compressionQuality` below 1 asks for new ones: encoding it again could only cost quality, time and
/// space.
public struct DefaultCacheSerializer: CacheSerializer, Hashable {
    /// The serializer used when none is asked for.
    public static let `default` = DefaultCacheSerializer()

    /// 0…1 for lossy formats. 1 by default.
    public var compressionQuality: CGFloat = 1

    /// Whether the original bytes are stored instead of newly encoded ones, when there are any.
    /// `false` by default. Processors then run again on what is read from the cache.
    public var preferCacheOriginalData = false

    /// `preferCacheOriginalData`.
    public var originalDataUsed: Bool { preferCacheOriginalData }

    public init() {}

    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        if preferCacheOriginalData { return original ?? image.animatedSource?.data }
        if let original, compressionQuality >= 1, image.isAsDecoded { return original }
        let format =
            original?.kf.imageFormat ?? image.animatedSource?.format ?? .unknown
        return image.kf.data(format: format, compressionQuality: compressionQuality)
            ?? image.kf.data(format: .PNG)
    }

    public func image(with data: Data, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        KingfisherWrapper.image(data: data, options: options.imageCreatingOptions)
    }
}

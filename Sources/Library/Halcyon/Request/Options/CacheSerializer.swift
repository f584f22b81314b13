public import Foundation

/// Turns images into the bytes of the disk cache and back.
///
/// ```swift
/// /// Keeps every image as a small WebP file, whatever it was made of.
/// struct SmallFiles: CacheSerializer {
///     func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
///         // What cannot be written is not cached.
///         try? image.kf.data(format: .WebP, options: ImageEncodingOptions(quality: 0.6))
///     }
///
///     func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
///         DefaultCacheSerializer.default.image(with: data, options: options)
///     }
/// }
/// ```
public protocol CacheSerializer: Sendable {
    /// The bytes to store for `image`, or `nil` when it cannot be serialized. `original` are the bytes
    /// it was made from, when known. May block.
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data?

    /// The image in bytes read from the cache, or `nil`. May block.
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage?

    /// Whether `data(with:original:)` gives the original bytes, so that a processor has to run again
    /// on what is read from the cache. `false` by default.
    var originalDataUsed: Bool { get }
}

extension CacheSerializer {
    public var originalDataUsed: Bool { false }
}

/// A serializer whose bytes are a file of an image format.
protocol ImageFileSerializer: CacheSerializer {}

extension ImageFileSerializer {
    public func image(with data: Data, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        KingfisherWrapper.image(data: data, options: options.imageCreatingOptions)
    }
}

/// Stores an image in the format it came in; what cannot be written in that format, or has none, as
/// PNG.
///
/// An image that was decoded and not processed is stored as the bytes it came in, unless a
/// `compressionQuality` below 1 asks for new ones: encoding it again could only cost quality, time and
/// space.
public struct DefaultCacheSerializer: ImageFileSerializer, Hashable {
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
}

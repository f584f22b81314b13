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

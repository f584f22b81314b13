// What `HalcyonPixels` has in this module's public interface comes with `import Halcyon`.
@_exported public import HalcyonPixels

/// The image type of the API; named as in Kingfisher.
public typealias KFCrossPlatformImage = Image

/// The colour type that processors take; named as in Kingfisher.
public typealias KFCrossPlatformColor = Color

/// `BlendMode` under the name it has in Kingfisher's API.
public typealias CGBlendMode = BlendMode

extension Image: KingfisherCompatible {}

extension Image: CacheCostCalculable {
    /// Bytes this image keeps in memory once rendered: the pixels of its resident frames, and the
    /// file's bytes of an animation.
    public var cacheCost: Int { byteCount }
}

// What `HalcyonHTTP` has in this module's public interface comes with `import Halcyon`.
@_exported public import HalcyonHTTP

/// Why a transfer failed, below the level of HTTP status codes.
public typealias ImageTransportError = TransportError

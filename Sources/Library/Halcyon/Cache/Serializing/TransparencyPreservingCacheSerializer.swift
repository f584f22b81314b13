public import Foundation

/// Stores what is transparent without losing that, and everything else as JPEG.
///
/// A photograph becomes a JPEG of quality 0.8, a sticker a PNG. What counts is the pixels: an alpha
/// channel that is opaque everywhere does not make a photograph a sticker. The bytes an unprocessed
/// image came in are kept when they are fewer, and so are those of an animation.
public struct TransparencyPreservingCacheSerializer: ImageFileSerializer, Hashable {
    /// The quality, 0…1, of images without transparency. 0.8 by default.
    public var compressionQuality: CGFloat
    /// The quality, 0…1, of images with transparency, stored as lossy WebP then; its alpha channel
    /// loses nothing. `nil`, the default, stores PNG.
    public var transparentQuality: CGFloat?
    /// Whether images with transparency are stored as lossless WebP where that takes fewer bytes than
    /// PNG, which it mostly does. Off by default: both have to be made to know. Does not count with a
    /// `transparentQuality`, nor for images of 16 bits, which WebP cannot hold.
    public var prefersSmallerLossless: Bool

    public init(
        compressionQuality: CGFloat = 0.8, transparentQuality: CGFloat? = nil,
        prefersSmallerLossless: Bool = false
    ) {
        self.compressionQuality = compressionQuality
        self.transparentQuality = transparentQuality
        self.prefersSmallerLossless = prefersSmallerLossless
    }

    public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        if image.animatedSource != nil || image.animation != nil {
            return DefaultCacheSerializer.default.data(with: image, original: original)
        }
        let encoded = newData(with: image)
        guard let original, image.isAsDecoded else { return encoded }
        guard let encoded else { return original }
        return original.count <= encoded.count ? original : encoded
    }

    private func newData(with image: KFCrossPlatformImage) -> Data? {
        // The interface has no way to tell why an image cannot be serialized.
        guard let bitmap = try? image.bitmap(), let isOpaque = try? bitmap.isOpaque() else {
            return nil
        }
        var data: Data?
        if isOpaque {
            data = image.kf.data(format: .JPEG, compressionQuality: compressionQuality)
        } else if let transparentQuality {
            data = image.kf.data(format: .WebP, compressionQuality: transparentQuality)
        } else if prefersSmallerLossless, bitmap.depth == .eight {
            return smallerLosslessData(with: image)
        }
        // Also for what is too large for the other formats.
        return data ?? image.kf.data(format: .PNG)
    }

    private func smallerLosslessData(with image: KFCrossPlatformImage) -> Data? {
        // An image too large for WebP is a PNG.
        let webP = try? image.kf.data(
            format: .WebP, options: ImageEncodingOptions(isLossless: true))
        guard let png = image.kf.data(format: .PNG) else { return webP }
        guard let webP, webP.count < png.count else { return png }
        return webP
    }
}

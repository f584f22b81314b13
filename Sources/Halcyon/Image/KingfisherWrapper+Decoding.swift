public import Foundation

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image with its pixels in memory, of an animation those of the first frame.
    ///
    /// Renders it on the calling thread if it is not rendered yet: up to a second for a large
    /// photograph; in `async` code use `Image.rendered()`. What cannot be rendered comes back as it
    /// is; `Image.bitmap()` tells why. What the manager and the caches deliver is rendered already.
    public var decoded: KFCrossPlatformImage {
        // The contract is that of Kingfisher: the same image, no reason.
        _ = try? base.bitmap()
        return base
    }

    /// The image with its pixels in memory, at `scale` pixels per point; see ``decoded``.
    public func decoded(scale: CGFloat) -> KFCrossPlatformImage {
        decoded.kf.scaled(to: scale)
    }

    /// The image drawn on `canvas`, the pixels that stand for Kingfisher's graphics context here: they
    /// decide on size, channels and depth of the result.
    ///
    ///     let size = PixelSize(width: 512, height: 512)
    ///     let canvas = Bitmap(pixels: Data(count: 512 * 512 * 4), size: size)!
    ///     let texture = image.kf.decoded(on: canvas)
    ///
    /// The picture keeps its size in pixels and its scale; it lies in the lower left corner, and what
    /// does not fit is cut off. Drawn on the calling thread. Animations, and what cannot be rendered,
    /// come back as they are.
    public func decoded(on canvas: Bitmap) -> KFCrossPlatformImage {
        // The contract is that of Kingfisher: the same image, no reason.
        (try? base.drawn(on: canvas)) ?? base
    }
}

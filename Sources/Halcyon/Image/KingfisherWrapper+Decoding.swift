public import Foundation
import Vips

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
        guard base.animation == nil else { return base }
        let drawing = PixelContent(Recipe(frames: [canvas])).applying(DrawingOperation(image: base))
        // The contract is that of Kingfisher: the same image, no reason.
        guard (try? drawing.bitmap()) != nil else { return base }
        return Image(content: drawing, scale: base.scale, creatingOptions: base.creatingOptions)
    }
}

/// Draws an image, as it is, into the lower left corner of a picture.
private struct DrawingOperation: ImageOperation {
    let image: Image

    func apply(to picture: VipsImage, input: PixelSize) throws -> VipsImage {
        let layer = CompositionLayer(
            image: image, left: 0, top: input.height - image.pixelSize.height,
            size: image.pixelSize, cornerRadius: 0, contentMode: .none)
        return try layer.drawn(on: picture)
    }
}

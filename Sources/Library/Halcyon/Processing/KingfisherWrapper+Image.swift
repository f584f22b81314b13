public import Foundation
import HalcyonWork

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image as a PNG file, of an animation its first frame; `nil` when it cannot be rendered.
    public func pngRepresentation() -> Data? {
        guard base.animation != nil else { return data(format: .PNG) }
        // The contract is that of Kingfisher: no file, no reason.
        return (try? base.bitmap()).flatMap { Image(bitmap: $0).kf.data(format: .PNG) }
    }

    /// The image as a JPEG file, of an animation its first frame. Transparent parts become white.
    ///
    /// - Parameter compressionQuality: 0 (smallest) … 1 (best).
    public func jpegRepresentation(compressionQuality: CGFloat) -> Data? {
        data(format: .JPEG, compressionQuality: compressionQuality)
    }

    /// The image as a GIF file: the bytes it was made of if they are GIF, else newly written with all
    /// frames.
    public func gifRepresentation() -> Data? {
        data(format: .GIF)
    }

    /// The image as a file, or `nil` when it cannot be written; `data(format:options:)` says why.
    ///
    /// Renders the image if it is not rendered yet, and encodes, on the calling thread.
    /// - Parameters:
    ///   - format: The file format; `.unknown` gives PNG.
    ///   - compressionQuality: 0 (smallest) … 1 (best) for lossy formats.
    public func data(format: ImageFormat, compressionQuality: CGFloat = 1) -> Data? {
        // The contract is that of Kingfisher: no file, no reason.
        try? data(format: format, options: ImageEncodingOptions(quality: compressionQuality))
    }

    /// The image as a file.
    ///
    /// An animation is written with all frames as GIF, WebP and PNG, with its first in other formats; of PNG
    /// with 8 bits. If the image was made of an animated file of this very format and not processed, it is
    /// these bytes as they are, metadata included.
    ///
    /// Renders the image if it is not rendered yet, and encodes, on the calling thread. The format
    /// `.unknown` gives PNG.
    /// - Throws: `ImageCodingError`.
    public func data(format: ImageFormat, options: ImageEncodingOptions) throws -> Data {
        try base.encoded(as: format, options: options)
    }

    /// The frames of the animated file the image was made of, or of the animation it is; `nil` for still
    /// images of other formats than GIF.
    public var imageFrameCount: Int? {
        base.animatedSource?.frameCount ?? (base.animation == nil ? nil : base.frameCount)
    }

    /// The image itself: it is upright already.
    public var normalized: KFCrossPlatformImage { base }

    /// The image in a file's bytes, or `nil` when they are not an image.
    ///
    /// Only the header is read, unless `options` ask for preloading; see `Image.decoding` for errors.
    public static func image(data: Data, options: ImageCreatingOptions) -> KFCrossPlatformImage? {
        // The contract is that of Kingfisher: no image, no reason.
        try? Image.decoding(data, options: options)
    }

    /// The same as `image(data:options:)`: whether the bytes are an animation is recognised from
    /// them.
    public static func animatedImage(
        data: Data, options: ImageCreatingOptions
    ) -> KFCrossPlatformImage? {
        image(data: data, options: options)
    }
}

extension Data: KingfisherCompatibleValue {}

extension KingfisherWrapper where Base == Data {
    /// The format of an image file's bytes; `.unknown` for eight bytes or fewer.
    public var imageFormat: ImageFormat { ImageSniffer.format(of: base) }

    /// Whether the bytes are a JPEG file in which the two bytes of `marker` stand next to each other
    /// anywhere.
    public func contains(jpeg marker: ImageFormat.JPEGMarker) -> Bool {
        guard imageFormat == .JPEG else { return false }
        return base.firstRange(of: Data(marker.bytes)) != nil
    }
}

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

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The frames of an animated file or of a foreign source, decoded when asked for, with the image's
    /// steps applied; a new one at each call.
    ///
    /// `nil` for still images of other formats than GIF, for an animation reduced to its first frame,
    /// and when the pixels of all frames are in memory: then `allBitmaps()` has them.
    public var frameSource: (any ImageFrameSource)? { base.makeFrameSource() }

    /// A copy of `target` that also knows what this image was made of: the animated file's bytes, the
    /// frame count, the frame source and the creating options.
    ///
    /// Images never change, so the copy is returned and `target` stays as it is. Its pixels are those
    /// of `target`; when that is a still image and this one an animation, the copy is played with the
    /// frames of this one.
    public func copyKingfisherState(to target: KFCrossPlatformImage) -> KFCrossPlatformImage {
        target.withSource(of: base)
    }

    /// An animation of frames that `source` makes; `nil` when a frame that is needed now is missing.
    ///
    /// Frames are asked for when they are shown, unless `options` ask for preloading or the first frame
    /// only. Decodes on the calling thread. `baseImage` is the first frame, if it is at hand already;
    /// then it is not decoded.
    public static func animatedImage(
        source: any ImageFrameSource, options: ImageCreatingOptions,
        baseImage: KFCrossPlatformImage? = nil
    ) -> KFCrossPlatformImage? {
        // The contract is that of Kingfisher: no image, no reason.
        try? Image.animated(source, options: options, base: baseImage)
    }
}

/// What the image looks like at a glance. All of it is computed on the pool of threads for decoding: the
/// image is rendered at a small size, if it is not rendered yet, of an animation its first frame.
extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image in 20 to 30 characters, to be shown until it is there.
    ///
    /// - Parameters:
    ///   - columns: Waves across, 1…9: more show more and make the hash longer.
    ///   - rows: Waves down, 1…9.
    /// - Throws: `ImageCodingError`.
    public func blurHash(columns: Int = 4, rows: Int = 3) async throws -> BlurHash {
        try await glance { try $0.blurHash(columns: columns, rows: rows) }
    }

    /// The image in about 25 bytes, with its proportions and opacity, to be shown until it is there.
    ///
    /// - Throws: `ImageCodingError`.
    public func thumbHash() async throws -> ThumbHash {
        try await glance { try $0.thumbHash() }
    }

    /// A hash of which neighbouring pixels are darker; see ``PerceptualHash``.
    ///
    /// - Throws: `ImageCodingError`.
    public func dHash() async throws -> PerceptualHash {
        try await glance { try $0.dHash() }
    }

    /// A hash of the lowest frequencies; see ``PerceptualHash``.
    ///
    /// - Throws: `ImageCodingError`.
    public func pHash() async throws -> PerceptualHash {
        try await glance { try $0.pHash() }
    }

    /// The colours that the image mainly consists of.
    ///
    /// - Parameter count: The most colours, 1…64.
    /// - Throws: `ImageCodingError`.
    public func palette(count: Int = 5) async throws -> ColorPalette {
        try await glance { try $0.palette(count: count) }
    }

    private func glance<Result: Sendable>(
        _ look: @escaping @Sendable (KFCrossPlatformImage) throws -> Result
    ) async throws -> Result {
        let image: KFCrossPlatformImage = base
        return try await DecodingPool.shared.run { try look(image) }
    }
}

public import Foundation
import HalcyonWork

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Returns the image as a PNG file, for an animation its first frame; `nil` if it cannot be
    /// rendered.
    public func pngRepresentation() -> Data? {
        guard base.animation != nil else { return data(format: .PNG) }
        // As in Kingfisher, failures have no reason.
        return (try? base.bitmap()).flatMap { Image(bitmap: $0).kf.data(format: .PNG) }
    }

    /// Returns the image as a JPEG file, for an animation its first frame. Transparent parts become
    /// white.
    ///
    /// - Parameter compressionQuality: 0 (smallest) … 1 (best).
    public func jpegRepresentation(compressionQuality: CGFloat) -> Data? {
        data(format: .JPEG, compressionQuality: compressionQuality)
    }

    /// Returns the image as a GIF file: its original bytes if they are GIF, otherwise newly encoded
    /// with all frames.
    public func gifRepresentation() -> Data? {
        data(format: .GIF)
    }

    /// Returns the image as a file, or `nil` on failure; `data(format:options:)` throws the reason.
    ///
    /// Renders the image if it is not rendered yet, and encodes, on the calling thread.
    /// - Parameters:
    ///   - format: The file format; `.unknown` gives PNG.
    ///   - compressionQuality: 0 (smallest) … 1 (best) for lossy formats.
    public func data(format: ImageFormat, compressionQuality: CGFloat = 1) -> Data? {
        // As in Kingfisher, failures have no reason.
        try? data(format: format, options: ImageEncodingOptions(quality: compressionQuality))
    }

    /// Returns the image as a file.
    ///
    /// Animations are encoded with all frames as GIF, WebP and PNG (with 8 bits), and with their
    /// first frame in other formats. An unprocessed image from an animated file of the same format
    /// is returned as its original bytes, including metadata.
    ///
    /// Renders the image if it is not rendered yet, and encodes, on the calling thread. The format
    /// `.unknown` gives PNG.
    /// - Throws: `ImageCodingError`.
    public func data(format: ImageFormat, options: ImageEncodingOptions) throws -> Data {
        try base.encoded(as: format, options: options)
    }

    /// Returns the image as a file whose quality is searched for: the best one of a number of bytes, or the smallest
    /// one of a similarity.
    ///
    /// Encodes at most five times, on the calling thread; the quality in `options` does not count. An animation is
    /// encoded anew, with all frames as WebP, and with its first frame in other formats.
    /// - Parameters:
    ///   - format: One of ``CompressionTarget/formats``.
    ///   - target: What the file is to reach.
    ///   - options: Everything but the quality.
    /// - Throws: `ImageCodingError`; `encodingFailed` for formats without a quality, lossless options, and a target
    ///   that no quality from 0.3 to 0.95 reaches.
    public func data(
        format: ImageFormat, target: CompressionTarget,
        options: ImageEncodingOptions = ImageEncodingOptions()
    ) throws -> CompressedImage {
        try base.compressed(as: format, to: target, options: options)
    }

    /// The number of frames of the animation or of the animated file the image was made from; `nil`
    /// for still images of other formats than GIF.
    public var imageFrameCount: Int? {
        base.animatedSource?.frameCount ?? (base.animation == nil ? nil : base.frameCount)
    }

    /// The image itself, since it is always upright.
    public var normalized: KFCrossPlatformImage { base }

    /// Makes an image from a file's bytes; `nil` if they are not an image.
    ///
    /// Only the header is read, unless `options` ask for preloading; see `Image.decoding` for errors.
    public static func image(data: Data, options: ImageCreatingOptions) -> KFCrossPlatformImage? {
        // As in Kingfisher, failures have no reason.
        try? Image.decoding(data, options: options)
    }

    /// Calls `image(data:options:)`, which recognises animations by their bytes.
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

    /// Whether the bytes are a JPEG file with the two bytes of `marker` next to each other
    /// anywhere.
    public func contains(jpeg marker: ImageFormat.JPEGMarker) -> Bool {
        guard imageFormat == .JPEG else { return false }
        return base.firstRange(of: Data(marker.bytes)) != nil
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image with its pixels in memory, for an animation those of the first frame.
    ///
    /// Renders it on the calling thread if necessary: up to a second for a large photograph; in
    /// `async` code use `Image.rendered()`. If rendering fails, returns the image unchanged;
    /// `Image.bitmap()` throws the reason. Images from the manager and the caches are already
    /// rendered.
    public var decoded: KFCrossPlatformImage {
        // As in Kingfisher, failures have no reason.
        _ = try? base.bitmap()
        return base
    }

    /// The image with its pixels in memory, at `scale` pixels per point; see ``decoded``.
    public func decoded(scale: CGFloat) -> KFCrossPlatformImage {
        decoded.kf.scaled(to: scale)
    }

    /// Draws the image on `canvas`, which stands for Kingfisher's graphics context: its pixels
    /// determine the size, channels and depth of the result.
    ///
    ///     let size = PixelSize(width: 512, height: 512)
    ///     let canvas = Bitmap(pixels: Data(count: 512 * 512 * 4), size: size)!
    ///     let texture = image.kf.decoded(on: canvas)
    ///
    /// The picture keeps its size in pixels and its scale; it lies in the lower left corner, and
    /// excess parts are cut off. Drawn on the calling thread. Animations, and images that cannot be
    /// rendered, are returned unchanged.
    public func decoded(on canvas: Bitmap) -> KFCrossPlatformImage {
        // As in Kingfisher, failures have no reason.
        (try? base.drawn(on: canvas)) ?? base
    }

    /// The frames of an animated file or of a custom source, decoded on demand, with the image's
    /// steps applied; a new source at each call.
    ///
    /// `nil` for still images of other formats than GIF, for an animation reduced to its first
    /// frame, and if the pixels of all frames are in memory: then use `allBitmaps()`.
    public var frameSource: (any ImageFrameSource)? { base.makeFrameSource() }

    /// Returns a copy of `target` with this image's origin: the animated file's bytes, the frame
    /// count, the frame source and the creating options.
    ///
    /// Images are immutable, so `target` itself stays unchanged. The copy has the pixels of
    /// `target`; if that is a still image and this one an animation, the copy plays this one's
    /// frames.
    public func copyKingfisherState(to target: KFCrossPlatformImage) -> KFCrossPlatformImage {
        target.withSource(of: base)
    }

    /// Makes an animation of frames from `source`; `nil` if a frame needed at once is missing.
    ///
    /// Frames are requested when they are shown, unless `options` ask for preloading or the first
    /// frame only. Decodes on the calling thread. `baseImage`, if given, is the first frame, which
    /// is then not decoded.
    public static func animatedImage(
        source: any ImageFrameSource, options: ImageCreatingOptions,
        baseImage: KFCrossPlatformImage? = nil
    ) -> KFCrossPlatformImage? {
        // As in Kingfisher, failures have no reason.
        try? Image.animated(source, options: options, base: baseImage)
    }
}

/// Hashes and colours of the image, computed on the decoding pool: the image is rendered at a small
/// size, if it is not rendered yet; an animation by its first frame.
extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Computes a BlurHash of 20 to 30 characters, as a placeholder.
    ///
    /// - Parameters:
    ///   - columns: The number of horizontal components, 1…9: more give more detail and a longer
    ///     hash.
    ///   - rows: The number of vertical components, 1…9.
    /// - Throws: `ImageCodingError`.
    public func blurHash(columns: Int = 4, rows: Int = 3) async throws -> BlurHash {
        try await glance { try $0.blurHash(columns: columns, rows: rows) }
    }

    /// Computes a ThumbHash of about 25 bytes, with proportions and opacity, as a placeholder.
    ///
    /// - Throws: `ImageCodingError`.
    public func thumbHash() async throws -> ThumbHash {
        try await glance { try $0.thumbHash() }
    }

    /// Computes a hash of brightness differences between neighbouring pixels; see
    /// ``PerceptualHash``.
    ///
    /// - Throws: `ImageCodingError`.
    public func dHash() async throws -> PerceptualHash {
        try await glance { try $0.dHash() }
    }

    /// Computes a hash of the lowest frequencies; see ``PerceptualHash``.
    ///
    /// - Throws: `ImageCodingError`.
    public func pHash() async throws -> PerceptualHash {
        try await glance { try $0.pHash() }
    }

    /// Computes the main colours of the image.
    ///
    /// - Parameter count: The maximum number of colours, 1…64.
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

public import Foundation

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image as a PNG file, of an animation its first frame; `nil` when it cannot be rendered.
    public func pngRepresentation() -> Data? {
        data(format: .PNG)
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
    /// An animation is written with all frames as GIF and WebP, with its first in other formats. If the
    /// image was made of an animated file of this very format and not processed, it is these bytes as
    /// they are, metadata included.
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

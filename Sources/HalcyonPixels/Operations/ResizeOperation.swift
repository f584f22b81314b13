import Vips

/// Resampling to a size in pixels. A first step lets the decoder deliver about that size.
struct ResizeOperation: ImageOperation {
    let size: PixelSize
    var quality = DownsamplingQuality.best

    func outputSize(for input: PixelSize) -> PixelSize { size }

    func decodeSize(for source: PixelSize) -> PixelSize? {
        size.width < source.width && size.height < source.height ? size : nil
    }

    func reduction(of source: PixelSize) -> Reduction? {
        decodeSize(for: source).map { Reduction(size: $0, quality: quality) }
    }

    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage {
        guard image.format == .ushort, !image.hasAlpha else {
            return try image.resized(to: size.width, height: size.height)
        }
        // libvips weighs 16-bit integers with 12-bit factors, which shifts even a flat colour.
        return try image.cast(to: .float).resized(to: size.width, height: size.height)
            .quantized(like: image)
    }
}

extension Image {
    /// The image resampled to exactly `size`.
    ///
    /// - Parameter quality: How well a file is decoded at that size, when this is the first step.
    package func resized(
        to size: PixelSize, quality: DownsamplingQuality = .best
    ) -> Image {
        applying(ResizeOperation(size: size, quality: quality))
    }
}

import Vips

/// One step of an image's recipe: a change of pixels, described now and done when the image is
/// rendered, together with all other steps, in one libvips pipeline.
///
/// The pipeline's images are sRGB with 3 or 4 bands of 8 or 16 bits and straight alpha; a step must
/// hand on such an image. For an animated image the step is applied to each frame.
protocol ImageOperation: Sendable {
    /// The pixel size this step gives for an input of `input` pixels.
    func outputSize(for input: PixelSize) -> PixelSize

    /// Whether the result has an alpha channel, given whether the input has one.
    func outputHasAlpha(for input: Bool) -> Bool

    /// When this step comes first: the least size that the decoder must deliver of a source of
    /// `source` pixels, so that it may decode at a reduced scale. `nil` means the full size.
    func decodeSize(for source: PixelSize) -> PixelSize?

    /// When this step comes first and is nothing but a change to a smaller size: that size, so that a
    /// decoder can deliver it and the step be left out.
    func reduction(of source: PixelSize) -> Reduction?

    /// Adds this step to `image`'s pipeline. `input` is the size that `outputSize(for:)` was asked
    /// with; after a reduced decode `image` may be smaller than that.
    func apply(to image: VipsImage, input: PixelSize) throws -> VipsImage
}

extension ImageOperation {
    func outputSize(for input: PixelSize) -> PixelSize { input }
    func outputHasAlpha(for input: Bool) -> Bool { input }
    func decodeSize(for source: PixelSize) -> PixelSize? { nil }
    func reduction(of source: PixelSize) -> Reduction? { nil }
}

public import Foundation

/// Decodes at a smaller size.
///
/// The image keeps its proportions and is never enlarged: its longer side becomes the longer side
/// of `size`. If the format allows it, a file is decoded without a full-size image, which saves
/// most of the time and memory of a large photograph; so prefer this to `ResizingImageProcessor`.
public struct DownsamplingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The size in points; an empty size keeps the image's own.
    public let size: CGSize
    /// The quality of decoding a file at that size. `best` by default.
    public let quality: DownsamplingQuality
    // Stored, since a request reads it several times.
    public let identifier: String

    public init(size: CGSize, quality: DownsamplingQuality = .best) {
        self.size = size
        self.quality = quality
        identifier = ProcessorIdentifier.make(
            "DownsamplingImageProcessor",
            quality == .best ? size.identifier : "\(size.identifier), \(quality)")
    }

    func step(_ image: Image) -> Image { image.kf.downsampled(to: size, quality: quality) }
}

extension DownsamplingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "downsample", arguments: ":WIDTHxHEIGHT[:best|fast]",
        summary: "Decodes so that the longer side is that of the size; never enlarges.")

    private static let quality = ProcessorArgument<DownsamplingQuality>("quality", "best or fast") {
        DownsamplingQuality(rawValue: $0)
    }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let size = try arguments.required(.size)
        self.init(size: size, quality: arguments.optional(Self.quality) ?? .best)
    }

    var writtenArguments: [(any SpecValue)?] { [size, quality.unless(.best)?.rawValue] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Decodes an image file so that its longer side is that of `pointSize`.
    ///
    /// The image keeps its proportions and is never enlarged; an empty `pointSize` keeps its own
    /// size. `nil` if the bytes are not an image. `scale` is the number of pixels per point, for
    /// `pointSize` and for the result.
    public static func downsampledImage(data: Data, to pointSize: CGSize, scale: CGFloat)
        -> KFCrossPlatformImage?
    {
        // As for `Image(data:)`; `Image.decoding` throws the reason.
        let image = try? Image.decoding(data, options: ImageCreatingOptions(scale: scale))
        return image?.kf.downsampled(to: pointSize)
    }

    /// The image with its longer side reduced to that of `size`, in points.
    func downsampled(
        to size: CGSize, quality: DownsamplingQuality = .best
    ) -> KFCrossPlatformImage {
        guard max(size.width, size.height) > 0 else { return base }
        return downsampled(
            toPixels: PixelSize(points: size, scale: base.scale), quality: quality)
    }

    func downsampled(
        toPixels size: PixelSize, quality: DownsamplingQuality = .best
    ) -> KFCrossPlatformImage {
        let source = base.pixelSize
        guard size.longestSide < source.longestSide else { return base }
        let factor = CGFloat(size.longestSide) / CGFloat(source.longestSide)
        let target = CGSize(width: source.width, height: source.height)
        return base.resized(to: PixelSize(points: target, scale: factor), quality: quality)
    }
}

public import Foundation

/// Decodes at a smaller size.
///
/// The image keeps its proportions and is never enlarged: its longer side becomes the longer side of
/// `size`. Of a file's bytes no full-size image is made where the format allows for it, which saves
/// most of the time and memory of a large photograph; so prefer this to `ResizingImageProcessor`.
public struct DownsamplingImageProcessor: ImageProcessor {
    /// The size in points. One without extent stands for the image's own.
    public let size: CGSize
    /// How well a file's bytes are decoded at that size. `best` by default.
    public let quality: DownsamplingQuality
    // Made once: a request asks for it several times.
    public let identifier: String

    public init(size: CGSize, quality: DownsamplingQuality = .best) {
        self.size = size
        self.quality = quality
        identifier = ProcessorIdentifier.make(
            "DownsamplingImageProcessor",
            quality == .best ? size.identifier : "\(size.identifier), \(quality)")
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.downsampled(to: size, quality: quality)
    }
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

    var argumentTexts: [String] {
        [SpecText.text(of: size)] + (quality == .best ? [] : [quality.rawValue])
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image in a file's bytes, decoded so that its longer side is that of `pointSize`.
    ///
    /// It keeps its proportions and is never enlarged; a `pointSize` without extent stands for the
    /// image's own. `nil` when the bytes are not an image. `scale` is pixels per point, of `pointSize`
    /// and of the result.
    public static func downsampledImage(data: Data, to pointSize: CGSize, scale: CGFloat)
        -> KFCrossPlatformImage?
    {
        // As for `Image(data:)`; those who want the reason call `Image.decoding`.
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

    /// The image with its longer side reduced to that of `size`.
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

public import Foundation

/// Decodes at a smaller size.
///
/// The image keeps its proportions and is never enlarged: its longer side becomes the longer side of
/// `size`. Of a file's bytes no full-size image is made where the format allows for it, which saves
/// most of the time and memory of a large photograph; so prefer this to `ResizingImageProcessor`.
public struct DownsamplingImageProcessor: ImageProcessor {
    /// The size in points. One without extent stands for the image's own.
    public let size: CGSize

    public init(size: CGSize) {
        self.size = size
    }

    public var identifier: String {
        ProcessorIdentifier.make("DownsamplingImageProcessor", size.identifier)
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.downsampled(to: size)
    }
}

extension DownsamplingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "downsample", arguments: ":WIDTHxHEIGHT",
        summary: "Decodes so that the longer side is that of the size; never enlarges.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(size: try arguments.required(.size))
    }

    var argumentTexts: [String] { [SpecText.text(of: size)] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image in a file's bytes, decoded so that its longer side is that of `pointSize`.
    ///
    /// It keeps its proportions and is never enlarged; a `pointSize` without extent stands for the
    /// image's own. `nil` when the bytes are not an image.
    /// - Parameter scale: Pixels per point, of `pointSize` and of the result.
    public static func downsampledImage(data: Data, to pointSize: CGSize, scale: CGFloat)
        -> KFCrossPlatformImage?
    {
        // As for `Image(data:)`; those who want the reason call `Image.decoding`.
        let image = try? Image.decoding(data, options: ImageCreatingOptions(scale: scale))
        return image?.kf.downsampled(to: pointSize)
    }

    /// The image with its longer side reduced to that of `size`, in points.
    func downsampled(to size: CGSize) -> KFCrossPlatformImage {
        guard max(size.width, size.height) > 0 else { return base }
        return downsampled(toPixels: PixelSize(points: size, scale: base.scale))
    }

    /// The image with its longer side reduced to that of `size`.
    func downsampled(toPixels size: PixelSize) -> KFCrossPlatformImage {
        let source = base.pixelSize
        guard size.longestSide < source.longestSide else { return base }
        let factor = CGFloat(size.longestSide) / CGFloat(source.longestSide)
        let target = CGSize(width: source.width, height: source.height)
        return base.applying(ResizeOperation(size: PixelSize(points: target, scale: factor)))
    }
}

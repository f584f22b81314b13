public import Foundation

/// Cuts out the rectangle of a size that catches the eye most: where edges, skin and strong colours are.
///
/// Resize first, so that one side fits: in a large picture a small rectangle is a detail. All frames of an
/// animation are cut like the first one.
public struct SmartCroppingImageProcessor: ImageProcessor {
    /// The size in points. What is larger than the image is left out.
    public let size: CGSize

    public init(size: CGSize) {
        self.size = size
    }

    public var identifier: String {
        ProcessorIdentifier.make("SmartCroppingImageProcessor", size.identifier)
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.smartCrop(to: size)
    }
}

extension SmartCroppingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "smartcrop", arguments: ":WIDTHxHEIGHT",
        summary: "Cuts out the rectangle that catches the eye most.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(size: try arguments.required(.size))
    }

    var argumentTexts: [String] { [SpecText.text(of: size)] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The rectangle of `size` points that catches the eye most; see ``SmartCroppingImageProcessor``.
    ///
    /// Of an animation the first frame is rendered for it, on the calling thread.
    public func smartCrop(to size: CGSize) -> KFCrossPlatformImage {
        base.smartCropped(to: PixelSize(points: size, scale: base.scale))
    }
}

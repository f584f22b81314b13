public import Foundation

/// Enlarges the canvas to a minimum size; never cuts anything off.
public struct CanvasImageProcessor: ImageProcessor, StepImageProcessor {
    /// The minimum size of the result, in points.
    public let size: CGSize
    /// The position of the image, as fractions of the free space; clamped to 0…1. Centred by
    /// default.
    public let anchor: CGPoint
    /// The colour around the image and behind its transparent parts; `nil`, the default, is
    /// transparent.
    public let backgroundColor: KFCrossPlatformColor?

    public init(
        size: CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5),
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.size = size
        self.anchor = anchor
        self.backgroundColor = backgroundColor
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "CanvasImageProcessor", "\(size.identifier)_\(anchor.identifier)",
            suffix: backgroundColor?.identifier)
    }

    func step(_ image: Image) -> Image {
        image.kf.extended(to: size, anchorOn: anchor, backgroundColor: backgroundColor)
    }
}

extension CanvasImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "canvas", arguments: ":WIDTHxHEIGHT[:X,Y][:COLOR]",
        summary: "Puts the image on a larger canvas, in the middle; 0,0 is the top left.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let size = try arguments.required(.size)
        let anchor = arguments.optional(.anchor) ?? CGPoint(x: 0.5, y: 0.5)
        self.init(size: size, anchor: anchor, backgroundColor: arguments.optional(.color))
    }

    var writtenArguments: [(any SpecValue)?] {
        [size, anchor.unless(CGPoint(x: 0.5, y: 0.5)), backgroundColor]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image on a canvas of at least `size` points; see ``CanvasImageProcessor``.
    public func extended(
        to size: CGSize, anchorOn anchor: CGPoint = CGPoint(x: 0.5, y: 0.5),
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        base.extended(
            to: PixelSize(points: size, scale: base.scale), anchor: anchor,
            background: backgroundColor ?? .clear)
    }
}

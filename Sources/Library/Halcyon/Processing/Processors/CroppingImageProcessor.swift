public import Foundation

/// Cuts a rectangle out.
public struct CroppingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The rectangle's size in points. What lies outside of the image is left out.
    public let size: CGSize
    /// The point that rectangle and image have in common, as fractions of their sides from the top
    /// left; clamped to 0…1. The centre by default.
    public let anchor: CGPoint

    public init(size: CGSize, anchor: CGPoint = CGPoint(x: 0.5, y: 0.5)) {
        self.size = size
        self.anchor = anchor
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "CroppingImageProcessor", "\(size.identifier)_\(anchor.identifier)")
    }

    func step(_ image: Image) -> Image { image.kf.crop(to: size, anchorOn: anchor) }
}

extension CroppingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "crop", arguments: ":WIDTHxHEIGHT[:X,Y]",
        summary: "Cuts a rectangle out, by default in the middle; 0,0 is the top left.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let size = try arguments.required(.size)
        self.init(size: size, anchor: arguments.optional(.anchor) ?? CGPoint(x: 0.5, y: 0.5))
    }

    var writtenArguments: [(any SpecValue)?] {
        [size, anchor.unless(CGPoint(x: 0.5, y: 0.5))]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// A rectangle of the image; see `CGSize.kf.constrainedRect(for:anchor:)` for where it lies.
    ///
    /// Its sides and then its place are rounded to whole pixels, so that a side that fits has exactly
    /// the length asked for.
    public func crop(to size: CGSize, anchorOn anchor: CGPoint) -> KFCrossPlatformImage {
        base.cropped(to: base.size.kf.constrainedRect(for: size, anchor: anchor))
    }
}

public import Foundation

/// Cuts out a rectangle of a size around a point that must be seen.
///
/// The point is in the middle, unless the edges of the image are too near; then it is as near to the
/// middle as they allow. `CroppingImageProcessor` places the rectangle in proportion instead.
public struct FocusCroppingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The size in points. What is larger than the image is left out.
    public let size: CGSize
    /// The point, as fractions of the image's sides from the top left; clamped to 0…1.
    public let focus: CGPoint

    public init(size: CGSize, focus: CGPoint) {
        self.size = size
        self.focus = focus
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "FocusCroppingImageProcessor", "\(size.identifier)_\(focus.identifier)")
    }

    func step(_ image: Image) -> Image { image.kf.crop(to: size, around: focus) }
}

extension FocusCroppingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "focus", arguments: ":WIDTHxHEIGHT:X,Y",
        summary: "Cuts a rectangle out around a point; 0,0 is the top left, 1,1 the other end.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let size = try arguments.required(.size)
        self.init(size: size, focus: try arguments.required(.anchor))
    }

    var writtenArguments: [(any SpecValue)?] { [size, focus] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// A rectangle of `size` points around `focus`; see ``FocusCroppingImageProcessor``.
    public func crop(to size: CGSize, around focus: CGPoint) -> KFCrossPlatformImage {
        base.cropped(to: PixelSize(points: size, scale: base.scale), around: focus)
    }
}

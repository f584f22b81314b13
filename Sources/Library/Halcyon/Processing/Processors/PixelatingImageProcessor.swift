public import Foundation

/// Makes squares of one colour, as of a picture with very few pixels.
public struct PixelatingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The side of a square in points; what is not more than a pixel changes nothing.
    public let side: CGFloat

    public init(side: CGFloat) {
        self.side = side
    }

    public var identifier: String {
        ProcessorIdentifier.make("PixelatingImageProcessor", "\(side)")
    }

    func step(_ image: Image) -> Image { image.kf.pixelated(side: side) }
}

extension PixelatingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "pixelate", arguments: ":SIDE", summary: "Makes squares of one colour.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(side: try arguments.required(.length("side")))
    }

    var writtenArguments: [(any SpecValue)?] { [side] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image in squares of one colour, each the mean of its pixels, from the top left on.
    ///
    /// - Parameter side: In points.
    public func pixelated(side: CGFloat) -> KFCrossPlatformImage {
        base.pixelated(side: side.pixels(scale: base.scale))
    }
}

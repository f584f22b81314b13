public import Foundation

/// Rotates the image clockwise around its centre.
///
/// Multiples of 90 degrees leave every pixel unchanged. For other angles pixels are interpolated
/// (bicubic), and the image grows to the bounds of the rotated one.
public struct RotatingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The angle in degrees; negative values rotate counterclockwise.
    public let degrees: CGFloat
    /// The colour of the corners left by the rotation and behind transparent parts; `nil`, the
    /// default, is transparent.
    public let backgroundColor: KFCrossPlatformColor?

    public init(degrees: CGFloat, backgroundColor: KFCrossPlatformColor? = nil) {
        self.degrees = degrees
        self.backgroundColor = backgroundColor
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "RotatingImageProcessor", "\(degrees)", suffix: backgroundColor?.identifier)
    }

    func step(_ image: Image) -> Image {
        image.kf.rotated(degrees: degrees, backgroundColor: backgroundColor)
    }
}

extension RotatingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "rotate", arguments: ":DEGREES[:COLOR]",
        summary: "Turns clockwise; the colour is that of the corners, else transparent.")

    private static let angle = ProcessorArgument<CGFloat>("angle", "a number of degrees") {
        SpecText.number($0)
    }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let degrees = try arguments.required(Self.angle)
        self.init(degrees: degrees, backgroundColor: arguments.optional(.color))
    }

    var writtenArguments: [(any SpecValue)?] { [degrees, backgroundColor] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Rotates the image clockwise around its centre; see ``RotatingImageProcessor``.
    public func rotated(
        degrees: CGFloat, backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        base.rotated(degrees: degrees, background: backgroundColor ?? .clear)
    }
}

public import Foundation

/// Blurs, close to a Gaussian.
public struct BlurImageProcessor: ImageProcessor, StepImageProcessor {
    /// The Gaussian's standard deviation in points; values under 2 pixels count as 2.
    public let blurRadius: CGFloat

    public init(blurRadius: CGFloat) {
        self.blurRadius = blurRadius
    }

    public var identifier: String {
        ProcessorIdentifier.make("BlurImageProcessor", "\(blurRadius)")
    }

    func step(_ image: Image) -> Image { image.kf.blurred(withRadius: blurRadius * image.scale) }
}

extension BlurImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "blur", arguments: ":RADIUS", summary: "Blurs; the radius is in points.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(blurRadius: try arguments.required(.length("radius")))
    }

    var writtenArguments: [(any SpecValue)?] { [blurRadius] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image blurred by repeated box filters.
    ///
    /// - Parameter radius: In pixels, whatever the image's scale; values under 2 count as 2.
    public func blurred(withRadius radius: CGFloat) -> KFCrossPlatformImage {
        base.blurred(radius: radius)
    }
}

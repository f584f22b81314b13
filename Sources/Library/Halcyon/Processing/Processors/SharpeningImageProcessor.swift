public import Foundation

/// Makes edges sharper, by an unsharp mask on lightness (L of CIELAB); flat areas and colours stay.
public struct SharpeningImageProcessor: ImageProcessor, StepImageProcessor {
    /// The standard deviation of the mask in points: 0.5 to 1 after making a picture smaller. 0 changes
    /// nothing, more than 10 pixels count as that.
    public let sigma: CGFloat

    public init(sigma: CGFloat) {
        self.sigma = sigma
    }

    public var identifier: String {
        ProcessorIdentifier.make("SharpeningImageProcessor", "\(sigma)")
    }

    func step(_ image: Image) -> Image { image.kf.sharpened(sigma: sigma * image.scale) }
}

extension SharpeningImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "sharpen", arguments: ":SIGMA",
        summary: "Makes edges sharper; 0.5 to 1 is right for a picture made smaller.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(sigma: try arguments.required(.length("sigma")))
    }

    var writtenArguments: [(any SpecValue)?] { [sigma] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image with sharper edges.
    ///
    /// - Parameter sigma: The standard deviation of the mask in pixels, whatever the image's scale.
    public func sharpened(sigma: CGFloat) -> KFCrossPlatformImage {
        base.sharpened(sigma: sigma)
    }
}

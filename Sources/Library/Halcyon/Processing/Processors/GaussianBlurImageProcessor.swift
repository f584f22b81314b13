public import Foundation

/// Blurs by a Gaussian, right to the last step of 8 bits.
///
/// `BlurImageProcessor` blurs as Kingfisher does, which comes close to a Gaussian above 2 pixels.
public struct GaussianBlurImageProcessor: ImageProcessor, StepImageProcessor {
    /// The standard deviation in points; what is below 0.2 pixels changes nothing, more than 1000 pixels
    /// count as that.
    public let sigma: CGFloat

    public init(sigma: CGFloat) {
        self.sigma = sigma
    }

    public var identifier: String {
        ProcessorIdentifier.make("GaussianBlurImageProcessor", "\(sigma)")
    }

    func step(_ image: Image) -> Image { image.kf.gaussianBlurred(sigma: sigma * image.scale) }
}

extension GaussianBlurImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "gaussian", arguments: ":SIGMA",
        summary: "Blurs by an exact Gaussian, also of less than two pixels.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(sigma: try arguments.required(.length("sigma")))
    }

    var writtenArguments: [(any SpecValue)?] { [sigma] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image blurred by a Gaussian.
    ///
    /// - Parameter sigma: The standard deviation in pixels, whatever the image's scale.
    public func gaussianBlurred(sigma: CGFloat) -> KFCrossPlatformImage {
        base.gaussianBlurred(sigma: sigma)
    }
}

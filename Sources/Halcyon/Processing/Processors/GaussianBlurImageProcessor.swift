public import Foundation

/// Blurs by a Gaussian, exactly.
///
/// `BlurImageProcessor` comes close to one and takes the same time for any radius; this one is right also
/// below 2 pixels, and its time grows with the radius.
public struct GaussianBlurImageProcessor: ImageProcessor {
    /// The standard deviation in points; what is below 0.2 pixels changes nothing, more than 1000 pixels
    /// count as that.
    public let sigma: CGFloat

    public init(sigma: CGFloat) {
        self.sigma = sigma
    }

    public var identifier: String {
        ProcessorIdentifier.make("GaussianBlurImageProcessor", "\(sigma)")
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.gaussianBlurred(sigma: sigma * options.scaleFactor)
    }
}

extension GaussianBlurImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "gaussian", arguments: ":SIGMA",
        summary: "Blurs by an exact Gaussian, also a little; slow if the deviation is large.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(sigma: try arguments.required(.length("sigma")))
    }

    var argumentTexts: [String] { [SpecText.text(of: sigma)] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image blurred by a Gaussian.
    ///
    /// - Parameter sigma: The standard deviation in pixels, whatever the image's scale.
    public func gaussianBlurred(sigma: CGFloat) -> KFCrossPlatformImage {
        base.gaussianBlurred(sigma: sigma)
    }
}

/// Lays a colour over the whole image, also where that is transparent.
public struct TintImageProcessor: ImageProcessor, StepImageProcessor {
    /// The colour; an opaque one hides the image.
    public let tint: KFCrossPlatformColor

    public init(tint: KFCrossPlatformColor) {
        self.tint = tint
    }

    public var identifier: String {
        ProcessorIdentifier.make("TintImageProcessor", tint.identifier)
    }

    func step(_ image: Image) -> Image { image.kf.tinted(with: tint) }
}

extension TintImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "tint", arguments: ":COLOR",
        summary: "Lays a colour over the image; give it transparency, as in #ff000080.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(tint: try arguments.required(.color))
    }

    var writtenArguments: [(any SpecValue)?] { [tint] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image with a colour composited over it (source-over, on sRGB values).
    public func tinted(with color: KFCrossPlatformColor) -> KFCrossPlatformImage {
        base.overlaid(with: color)
    }
}

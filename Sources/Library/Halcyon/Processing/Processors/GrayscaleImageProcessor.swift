/// Turns colours into greys of the same luminance (Rec. 709, of the sRGB values as they are).
///
/// `BlackWhiteProcessor` works on linear light and brightens, as Kingfisher's does.
public struct GrayscaleImageProcessor: ImageProcessor, StepImageProcessor {
    public var identifier: String { ProcessorIdentifier.make("GrayscaleImageProcessor") }

    public init() {}

    func step(_ image: Image) -> Image { image.kf.grayscale }
}

extension GrayscaleImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "gray", arguments: "", summary: "Turns colours into greys of the same luminance.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {}

    var writtenArguments: [(any SpecValue)?] { [] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image in greys, by the luminance of Rec. 709.
    public var grayscale: KFCrossPlatformImage { base.greyed() }
}

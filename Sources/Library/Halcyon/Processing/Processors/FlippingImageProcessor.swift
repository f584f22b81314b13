/// Mirrors the image.
public struct FlippingImageProcessor: ImageProcessor, StepImageProcessor {
    /// Whether left and right are exchanged.
    public let horizontally: Bool
    /// Whether top and bottom are exchanged.
    public let vertically: Bool

    /// Both together are half a turn; without either the image stays as it is.
    public init(horizontally: Bool = false, vertically: Bool = false) {
        self.horizontally = horizontally
        self.vertically = vertically
    }

    public var identifier: String {
        ProcessorIdentifier.make("FlippingImageProcessor", "\(horizontally)_\(vertically)")
    }

    func step(_ image: Image) -> Image {
        image.kf.flipped(horizontally: horizontally, vertically: vertically)
    }
}

extension FlippingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "flip", arguments: ":horizontal|vertical|both|none",
        summary: "Exchanges left and right, or top and bottom.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let sides = try arguments.required(.sides("direction"))
        self.init(horizontally: sides.areHorizontal, vertically: sides.areVertical)
    }

    var writtenArguments: [(any SpecValue)?] {
        [SpecText.Sides(horizontally: horizontally, vertically: vertically).rawValue]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image with left and right, or top and bottom, exchanged.
    public func flipped(
        horizontally: Bool = false, vertically: Bool = false
    ) -> KFCrossPlatformImage {
        base.flipped(horizontally: horizontally, vertically: vertically)
    }
}

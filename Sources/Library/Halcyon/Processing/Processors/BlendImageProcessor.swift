public import Foundation

/// Draws the image with a blend mode onto a colour, or onto a transparent background.
public struct BlendImageProcessor: ImageProcessor, StepImageProcessor {
    /// The blend mode of image and background.
    public let blendMode: CGBlendMode
    /// The opacity of the image, 0…1. 1 by default.
    public let alpha: CGFloat
    /// The background colour; `nil`, the default, is transparent.
    public let backgroundColor: KFCrossPlatformColor?

    public init(
        blendMode: CGBlendMode, alpha: CGFloat = 1, backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.blendMode = blendMode
        self.alpha = alpha
        self.backgroundColor = backgroundColor
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "BlendImageProcessor", "\(blendMode.rawValue),\(alpha)",
            suffix: backgroundColor?.identifier)
    }

    func step(_ image: Image) -> Image {
        image.kf.image(withBlendMode: blendMode, alpha: alpha, backgroundColor: backgroundColor)
    }
}

extension BlendImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "blend", arguments: ":MODE[:ALPHA][:COLOR]",
        summary: "Draws the image with a blend mode (multiply, screen, …) onto a colour.")

    private static let mode = ProcessorArgument<BlendMode>(
        "mode", "one of \(BlendMode.allCases.map(\.name).joined(separator: ", "))"
    ) { text in
        BlendMode.allCases.first { $0.name == text }
    }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let mode = try arguments.required(Self.mode)
        let alpha = arguments.optional(.fraction("alpha")) ?? 1
        self.init(blendMode: mode, alpha: alpha, backgroundColor: arguments.optional(.color))
    }

    var writtenArguments: [(any SpecValue)?] {
        [blendMode.name, alpha.unless(1), backgroundColor]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Draws the image with `blendMode` and an opacity of `alpha` onto `backgroundColor`, or onto a
    /// transparent background. Blended on sRGB values.
    public func image(
        withBlendMode blendMode: CGBlendMode, alpha: CGFloat = 1,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        base.blended(blendMode, alpha: alpha, onto: backgroundColor ?? .clear)
    }
}

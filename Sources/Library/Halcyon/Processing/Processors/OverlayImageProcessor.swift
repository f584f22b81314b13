public import Foundation

/// Mixes a colour into the image, where the image is opaque.
public struct OverlayImageProcessor: ImageProcessor, StepImageProcessor {
    /// The colour. Its alpha makes its part smaller.
    public let overlay: KFCrossPlatformColor
    /// The part of the image: 0 shows the colour alone, 1 the image alone. 0.5 by default.
    public let fraction: CGFloat

    public init(overlay: KFCrossPlatformColor, fraction: CGFloat = 0.5) {
        self.overlay = overlay
        self.fraction = fraction
    }

    public var identifier: String {
        ProcessorIdentifier.make("OverlayImageProcessor", "\(overlay.identifier)_\(fraction)")
    }

    func step(_ image: Image) -> Image { image.kf.overlaying(with: overlay, fraction: fraction) }
}

extension OverlayImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "overlay", arguments: ":COLOR[:FRACTION]",
        summary: "Mixes a colour in; the fraction (0.5) is the image's part.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let color = try arguments.required(.color)
        self.init(overlay: color, fraction: arguments.optional(.fraction("fraction")) ?? 0.5)
    }

    var writtenArguments: [(any SpecValue)?] { [overlay, fraction.unless(0.5)] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image mixed with a colour; its own opacity stays. `fraction` is the part of the image, 0…1.
    public func overlaying(with color: KFCrossPlatformColor, fraction: CGFloat)
        -> KFCrossPlatformImage
    {
        base.mixed(with: color, fraction: fraction)
    }
}

public import Foundation

/// Turns luminance into black or white, with nothing in between; opacity stays.
public struct BitonalImageProcessor: ImageProcessor, StepImageProcessor {
    /// The least luminance that becomes white, 0…1. 0.5 by default.
    public let threshold: CGFloat

    public init(threshold: CGFloat = 0.5) {
        self.threshold = threshold
    }

    public var identifier: String {
        ProcessorIdentifier.make("BitonalImageProcessor", "\(threshold)")
    }

    func step(_ image: Image) -> Image { image.kf.bitonal(threshold: threshold) }
}

extension BitonalImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "bitonal", arguments: "[:THRESHOLD]",
        summary: "Makes black and white; white from that luminance on (0.5).")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        self.init(threshold: arguments.optional(.fraction("threshold")) ?? 0.5)
    }

    var writtenArguments: [(any SpecValue)?] { [threshold.unless(0.5)] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image in black and white: white where the luminance is at least `threshold`, 0…1.
    public func bitonal(threshold: CGFloat = 0.5) -> KFCrossPlatformImage {
        base.bitonal(threshold: threshold)
    }
}

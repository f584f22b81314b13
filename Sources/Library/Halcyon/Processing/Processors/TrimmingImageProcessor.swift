public import Foundation

/// Crops a border of one colour, such as the white around a scanned drawing.
///
/// Single pixels of other colours do not end the border. Transparent parts count as magenta.
/// Animations, and images of nothing but border, stay unchanged.
public struct TrimmingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The maximum difference of a component from the border's colour, from 0 to 255. 10 by
    /// default.
    public let threshold: CGFloat
    /// The colour of the border, regardless of opacity; `nil`, the default, uses that of the top
    /// left pixel.
    public let color: KFCrossPlatformColor?
    /// Whether left and right lose the same width, the smaller of both. False by default.
    public let isEvenHorizontally: Bool
    /// Whether top and bottom lose the same height, the smaller of both. False by default.
    public let isEvenVertically: Bool

    public init(
        threshold: CGFloat = 10, color: KFCrossPlatformColor? = nil,
        isEvenHorizontally: Bool = false, isEvenVertically: Bool = false
    ) {
        self.threshold = threshold
        self.color = color
        self.isEvenHorizontally = isEvenHorizontally
        self.isEvenVertically = isEvenVertically
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "TrimmingImageProcessor", "\(threshold)_\(isEvenHorizontally)_\(isEvenVertically)",
            suffix: color?.identifier)
    }

    func step(_ image: Image) -> Image {
        image.kf.trimmed(
            threshold: threshold, color: color, isEvenHorizontally: isEvenHorizontally,
            isEvenVertically: isEvenVertically)
    }
}

extension TrimmingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "trim", arguments: "[:THRESHOLD][:COLOR][:horizontal|vertical|both|none]",
        summary: "Cuts off a border of one colour; by the same on both sides if you say so.")

    private static let threshold = ProcessorArgument<CGFloat>.number(
        "threshold", "a number from 0 to 255", in: 0...255)

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let threshold = arguments.optional(Self.threshold) ?? 10
        let color = arguments.optional(.color)
        let sides = arguments.optional(.sides("sides"))
        self.init(
            threshold: threshold, color: color, isEvenHorizontally: sides?.areHorizontal ?? false,
            isEvenVertically: sides?.areVertical ?? false)
    }

    var writtenArguments: [(any SpecValue)?] {
        let sides = SpecText.Sides(horizontally: isEvenHorizontally, vertically: isEvenVertically)
        return [threshold.unless(10), color, sides.unless(.none)?.rawValue]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Crops the image's border of one colour; see ``TrimmingImageProcessor``.
    ///
    /// Renders the image on the calling thread, since the border is found in its pixels.
    public func trimmed(
        threshold: CGFloat = 10, color: KFCrossPlatformColor? = nil,
        isEvenHorizontally: Bool = false, isEvenVertically: Bool = false
    ) -> KFCrossPlatformImage {
        base.trimmed(
            TrimRule(
                threshold: threshold, color: color, isEvenHorizontally: isEvenHorizontally,
                isEvenVertically: isEvenVertically))
    }
}

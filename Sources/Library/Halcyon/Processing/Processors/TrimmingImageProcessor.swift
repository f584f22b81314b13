public import Foundation

/// Cuts off a border of one colour, such as the white around a scanned drawing.
///
/// Single pixels of other colours do not end the border. Transparent parts count as magenta. An animation
/// stays as it is, and so does an image that is nothing but border.
public struct TrimmingImageProcessor: ImageProcessor {
    /// How far a component may be from the border's colour, on a scale from 0 to 255. 10 by default.
    public let threshold: CGFloat
    /// The colour of the border, whose opacity does not count; `nil`, the default, stands for that of the
    /// top left pixel.
    public let color: KFCrossPlatformColor?
    /// Whether the same is cut off at left and right: the smaller of both. No by default.
    public let isEvenHorizontally: Bool
    /// Whether the same is cut off at top and bottom. No by default.
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

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.trimmed(
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
            threshold: threshold, color: color, isEvenHorizontally: sides?.horizontal ?? false,
            isEvenVertically: sides?.vertical ?? false)
    }

    var argumentTexts: [String] {
        let sides = SpecText.Sides(horizontal: isEvenHorizontally, vertical: isEvenVertically)
        return (threshold == 10 ? [] : [SpecText.text(of: threshold)])
            + (color.map { [SpecText.text(of: $0)] } ?? [])
            + (sides == SpecText.Sides() ? [] : [sides.name])
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image without its border of one colour; see ``TrimmingImageProcessor``.
    ///
    /// Renders the image on the calling thread, as its pixels tell where the border ends.
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

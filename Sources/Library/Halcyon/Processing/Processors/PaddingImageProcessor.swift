public import Foundation

/// Adds room around the image.
public struct PaddingImageProcessor: ImageProcessor {
    /// How much at the top, in points; less than 0 counts as 0.
    public let top: CGFloat
    /// How much at the right edge.
    public let right: CGFloat
    /// How much at the bottom.
    public let bottom: CGFloat
    /// How much at the left edge.
    public let left: CGFloat
    /// What is seen around the image, and through it; `nil`, the default, leaves it transparent.
    public let backgroundColor: KFCrossPlatformColor?

    public init(
        top: CGFloat = 0, right: CGFloat = 0, bottom: CGFloat = 0, left: CGFloat = 0,
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.top = top
        self.right = right
        self.bottom = bottom
        self.left = left
        self.backgroundColor = backgroundColor
    }

    /// The same room at all edges.
    public init(_ length: CGFloat, backgroundColor: KFCrossPlatformColor? = nil) {
        self.init(
            top: length, right: length, bottom: length, left: length,
            backgroundColor: backgroundColor)
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "PaddingImageProcessor", "\(top)_\(right)_\(bottom)_\(left)",
            suffix: backgroundColor?.identifier)
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.padded(
            top: top, right: right, bottom: bottom, left: left, backgroundColor: backgroundColor)
    }
}

extension PaddingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "pad", arguments: ":LENGTH|TOP,RIGHT,BOTTOM,LEFT[:COLOR]",
        summary: "Adds room around the image, transparent if no colour is given.")

    private static let lengths = ProcessorArgument<[CGFloat]>(
        "lengths", "one length, or four such as 10,0,10,0"
    ) { text in
        let numbers = SpecText.numbers(text, separator: ",")
        guard numbers.count == 1 || numbers.count == 4, numbers.allSatisfy({ $0 >= 0 }) else {
            return nil
        }
        return numbers.count == 4 ? numbers : [CGFloat](repeating: numbers[0], count: 4)
    }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let lengths = try arguments.required(Self.lengths)
        self.init(
            top: lengths[0], right: lengths[1], bottom: lengths[2], left: lengths[3],
            backgroundColor: arguments.optional(.color))
    }

    var argumentTexts: [String] {
        let lengths = [top, right, bottom, left]
        let isEven = lengths.allSatisfy { $0 == top }
        let texts = (isEven ? [top] : lengths).map { SpecText.text(of: $0) }
        return [texts.joined(separator: ",")]
            + (backgroundColor.map { [SpecText.text(of: $0)] } ?? [])
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image with room around it, in points, in a colour, which is also seen through the image, or
    /// transparent.
    public func padded(
        top: CGFloat = 0, right: CGFloat = 0, bottom: CGFloat = 0, left: CGFloat = 0,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        base.padded(
            top: top.pixels(scale: base.scale), left: left.pixels(scale: base.scale),
            bottom: bottom.pixels(scale: base.scale), right: right.pixels(scale: base.scale),
            background: backgroundColor ?? .clear)
    }
}

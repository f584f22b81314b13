public import Foundation

/// Adds padding around the image.
public struct PaddingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The padding at the top, in points; negative values count as 0.
    public let top: CGFloat
    /// The padding at the right edge, in points.
    public let right: CGFloat
    /// The padding at the bottom, in points.
    public let bottom: CGFloat
    /// The padding at the left edge, in points.
    public let left: CGFloat
    /// The colour around the image and behind its transparent parts; `nil`, the default, is
    /// transparent.
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

    /// Creates a processor with equal padding at all edges.
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

    func step(_ image: Image) -> Image {
        image.kf.padded(
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

    var writtenArguments: [(any SpecValue)?] {
        let lengths = [top, right, bottom, left]
        let isEven = lengths.allSatisfy { $0 == top }
        return [
            (isEven ? [top] : lengths).map(\.specText).joined(separator: ","), backgroundColor,
        ]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Adds padding around the image, in points. The colour also fills the image's transparent
    /// parts; without one the padding is transparent.
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

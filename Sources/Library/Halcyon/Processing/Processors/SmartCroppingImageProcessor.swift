public import Foundation

/// Cuts out the rectangle of a size that catches the eye most: where edges, skin and strong colours are. With
/// the interest `.entropy`, for documents, maps and textures, it is the one where most is to be seen.
///
/// Resize first, so that one side fits: in a large picture a small rectangle is a detail. All frames of an
/// animation are cut like the first one.
public struct SmartCroppingImageProcessor: ImageProcessor {
    /// The size in points. What is larger than the image is left out.
    public let size: CGSize
    /// What is looked for. `.attention` by default.
    public let interest: CroppingInterest

    public init(size: CGSize, interest: CroppingInterest = .attention) {
        self.size = size
        self.interest = interest
    }

    public var identifier: String {
        ProcessorIdentifier.make(
            "SmartCroppingImageProcessor",
            interest == .attention ? size.identifier : "\(size.identifier), \(interest)")
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        item.image(scaledFor: options)?.kf.smartCrop(to: size, interest: interest)
    }
}

extension SmartCroppingImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "smartcrop", arguments: ":WIDTHxHEIGHT[:attention|entropy]",
        summary: "Cuts out the rectangle that catches the eye most (the default), or tells most.")

    private static let interest = ProcessorArgument<CroppingInterest>(
        "interest", "attention or entropy"
    ) { text in CroppingInterest(rawValue: text) }

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let size = try arguments.required(.size)
        self.init(size: size, interest: arguments.optional(Self.interest) ?? .attention)
    }

    var argumentTexts: [String] {
        [SpecText.text(of: size)] + (interest == .attention ? [] : [interest.rawValue])
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The most interesting rectangle of `size` points; see ``SmartCroppingImageProcessor``.
    ///
    /// Of an animation the first frame is rendered for it, on the calling thread.
    public func smartCrop(
        to size: CGSize, interest: CroppingInterest = .attention
    ) -> KFCrossPlatformImage {
        base.smartCropped(to: PixelSize(points: size, scale: base.scale), interest: interest)
    }
}

public import Foundation

/// Crops to the most striking rectangle of a given size: the one with edges, skin and strong
/// colours. With the interest `.entropy`, for documents, maps and textures, it is the one with the
/// most detail.
///
/// Resize first, so that one side fits: in a large picture a small rectangle is a detail. All
/// frames of an animation are cropped like the first one.
public struct SmartCroppingImageProcessor: ImageProcessor, StepImageProcessor {
    /// The size in points, limited to that of the image.
    public let size: CGSize
    /// The measure of interest. `.attention` by default.
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

    func step(_ image: Image) -> Image { image.kf.smartCrop(to: size, interest: interest) }
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

    var writtenArguments: [(any SpecValue)?] { [size, interest.unless(.attention)?.rawValue] }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// Crops to the most interesting rectangle of `size` points; see
    /// ``SmartCroppingImageProcessor``.
    ///
    /// For an animation the first frame is rendered, on the calling thread.
    public func smartCrop(
        to size: CGSize, interest: CroppingInterest = .attention
    ) -> KFCrossPlatformImage {
        base.smartCropped(to: PixelSize(points: size, scale: base.scale), interest: interest)
    }
}

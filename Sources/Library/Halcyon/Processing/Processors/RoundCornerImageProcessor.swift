public import Foundation

/// The radius of rounded corners.
public enum Radius: Hashable, Sendable {
    /// A part of the image's width: 0.5 is half of it.
    case widthFraction(CGFloat)
    /// A part of the image's height: 0.5 is half of it.
    case heightFraction(CGFloat)
    /// A length in points.
    case point(CGFloat)

    /// The radius in points for an image of `size` points.
    public func compute(with size: CGSize) -> CGFloat {
        switch self {
        case .widthFraction(let fraction): size.width * fraction
        case .heightFraction(let fraction): size.height * fraction
        case .point(let length): length
        }
    }

    var identifier: String {
        switch self {
        case .widthFraction(let fraction): "w_frac_\(fraction)"
        case .heightFraction(let fraction): "h_frac_\(fraction)"
        case .point(let length): "\(length)"
        }
    }
}

/// Rounds corners: what is outside becomes transparent, or shows a background.
public struct RoundCornerImageProcessor: ImageProcessor, StepImageProcessor {
    /// The radius of the corners; at most half of the shorter side is used.
    public let radius: Radius
    /// The corners that are rounded. All by default.
    public let roundingCorners: RectCorner
    /// The size in points that the image is resampled to first; `nil`, the default, for its own.
    public let targetSize: CGSize?
    /// The colour behind the image; `nil`, the default, for none.
    public let backgroundColor: KFCrossPlatformColor?

    public init(
        cornerRadius: CGFloat, targetSize: CGSize? = nil, roundingCorners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.init(
            radius: .point(cornerRadius), targetSize: targetSize,
            roundingCorners: roundingCorners, backgroundColor: backgroundColor)
    }

    public init(
        radius: Radius, targetSize: CGSize? = nil, roundingCorners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) {
        self.radius = radius
        self.targetSize = targetSize
        self.roundingCorners = roundingCorners
        self.backgroundColor = backgroundColor
    }

    public var identifier: String {
        let size = targetSize.map { "_\($0.identifier)" } ?? ""
        return ProcessorIdentifier.make(
            "RoundCornerImageProcessor",
            "\(radius.identifier)\(size)\(roundingCorners.identifier)",
            suffix: backgroundColor?.identifier)
    }

    func step(_ image: Image) -> Image {
        image.kf.image(
            withRadius: radius, fit: targetSize ?? image.size, roundingCorners: roundingCorners,
            backgroundColor: backgroundColor)
    }
}

extension RoundCornerImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "round", arguments: ":RADIUS[:WIDTHxHEIGHT][:CORNERS][:COLOR]",
        summary: "Rounds corners (20, or w0.5 for half the width), on a colour if one is given.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        let radius = try arguments.required(.radius)
        let size = arguments.optional(.size)
        let corners = arguments.optional(.corners) ?? .all
        self.init(
            radius: radius, targetSize: size, roundingCorners: corners,
            backgroundColor: arguments.optional(.color))
    }

    var writtenArguments: [(any SpecValue)?] {
        [radius, targetSize, roundingCorners.unless(.all), backgroundColor]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image resampled to `size` points with rounded corners.
    ///
    /// - Parameters:
    ///   - radius: At most half of the shorter side is used.
    ///   - size: In points.
    ///   - corners: The other corners stay as they are.
    ///   - backgroundColor: The colour behind the image; `nil` for none.
    public func image(
        withRadius radius: Radius, fit size: CGSize, roundingCorners corners: RectCorner = .all,
        backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        let image = resize(to: size)
        return image.rounded(
            radius: radius.compute(with: image.size) * image.scale, corners: corners,
            background: backgroundColor)
    }

    /// The image resampled to `size` points with corners of a radius in points.
    public func image(
        withRoundRadius radius: CGFloat, fit size: CGSize,
        roundingCorners corners: RectCorner = .all, backgroundColor: KFCrossPlatformColor? = nil
    ) -> KFCrossPlatformImage {
        image(
            withRadius: .point(radius), fit: size, roundingCorners: corners,
            backgroundColor: backgroundColor)
    }
}

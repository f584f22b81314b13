public import Foundation

/// A line along the edges of an image.
public struct Border: Hashable, Sendable {
    /// The colour of the line. Black by default.
    public var color: KFCrossPlatformColor
    /// The width of the line in points; it lies wholly inside the image. 4 by default.
    public var lineWidth: CGFloat
    /// The radius of the middle of the line at rounded corners. 0 by default.
    public var radius: Radius
    /// The corners that are rounded. All by default.
    public var roundingCorners: RectCorner

    public init(
        color: KFCrossPlatformColor = .black, lineWidth: CGFloat = 4, radius: Radius = .point(0),
        roundingCorners: RectCorner = .all
    ) {
        self.color = color
        self.lineWidth = lineWidth
        self.radius = radius
        self.roundingCorners = roundingCorners
    }

    var identifier: String {
        "\(color.identifier)_\(lineWidth)_\(radius.identifier)_\(roundingCorners.identifier)"
    }
}

/// Draws a line along the edges, inside of them.
public struct BorderImageProcessor: ImageProcessor {
    /// The line.
    public let border: Border

    public init(border: Border) {
        self.border = border
    }

    public var identifier: String {
        ProcessorIdentifier.make("BorderImageProcessor", border.identifier)
    }

    public func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        switch item {
        case .image(let image): image.kf.addingBorder(border)
        case .data:
            DefaultImageProcessor.default.process(item: item, options: options)?
                .kf.addingBorder(border)
        }
    }
}

extension BorderImageProcessor: TextualImageProcessor {
    static let textForm = ProcessorTextForm(
        name: "border", arguments: ":WIDTH[:COLOR][:RADIUS][:CORNERS]",
        summary: "Draws a line inside the edges, black if no colour is given.")

    init(arguments: inout ProcessorArguments) throws(ImageProcessorSpec.ParsingError) {
        var border = Border(lineWidth: try arguments.required(.length("width")))
        border.color = arguments.optional(.color) ?? border.color
        border.radius = arguments.optional(.radius) ?? border.radius
        border.roundingCorners = arguments.optional(.corners) ?? border.roundingCorners
        self.init(border: border)
    }

    var writtenArguments: [(any SpecValue)?] {
        [border.lineWidth, border.color, border.radius, border.roundingCorners.unless(.all)]
    }
}

extension KingfisherWrapper where Base: KFCrossPlatformImage {
    /// The image with a line inside its edges. What lies outside of rounded corners stays.
    public func addingBorder(_ border: Border) -> KFCrossPlatformImage {
        base.bordered(
            lineWidth: border.lineWidth * base.scale,
            radius: border.radius.compute(with: base.size) * base.scale,
            corners: border.roundingCorners, color: border.color)
    }
}

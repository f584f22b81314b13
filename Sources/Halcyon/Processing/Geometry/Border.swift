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

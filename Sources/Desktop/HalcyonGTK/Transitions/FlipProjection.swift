import Foundation

/// The perspective projection of a plane that turns around the axis through its middle.
///
/// The plane recedes as it turns, so that its nearest edge stays on the screen and the plane within
/// its bounds. Lengths are measured from the axis, across it.
struct FlipProjection: Hashable {
    let length: CGFloat
    /// Between -90 and 90: positive when the edge at the start comes to the front.
    let degrees: CGFloat

    private var radians: CGFloat { degrees * .pi / 180 }

    var depth: CGFloat { 2 * max(1, length) }

    /// The distance of the axis behind the screen.
    var recession: CGFloat { length / 2 * abs(sin(radians)) }

    /// Whether the plane stands on edge, and so is invisible.
    var isOnEdge: Bool { cos(radians) * length < 0.5 }

    /// The point of the screen where the point at `position` of the plane is, and the scale there.
    func projected(_ position: CGFloat) -> (position: CGFloat, scale: CGFloat) {
        let scale = depth / (depth + recession + position * sin(radians))
        return (position * cos(radians) * scale, scale)
    }

    /// The point of the plane that is projected to `position`, also beyond its edges.
    func unprojected(_ position: CGFloat) -> CGFloat {
        position * (depth + recession) / (depth * cos(radians) - position * sin(radians))
    }
}

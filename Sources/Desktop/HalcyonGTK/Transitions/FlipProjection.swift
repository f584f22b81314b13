import Foundation

/// A plane that turns around the axis through its middle, seen from a distance.
///
/// The plane goes back as it turns, so that its nearest edge stays on the screen and the whole never
/// leaves its place. Lengths are along the direction that turns, from the axis.
struct FlipProjection: Hashable {
    /// The length of the plane across the axis.
    let length: CGFloat
    /// The turn, in degrees: positive when the edge at the start comes to the front; less than 90 in
    /// either direction.
    let degrees: CGFloat

    private var radians: CGFloat { degrees * .pi / 180 }

    /// How far the eye is from the screen.
    var depth: CGFloat { 2 * max(1, length) }

    /// How far the axis is behind the screen.
    var recession: CGFloat { length / 2 * abs(sin(radians)) }

    /// Whether nothing is seen, as the plane stands on edge.
    var isOnEdge: Bool { cos(radians) * length < 0.5 }

    /// Where the point at `position` of the plane is seen, and how large things are there.
    func projected(_ position: CGFloat) -> (position: CGFloat, scale: CGFloat) {
        let scale = depth / (depth + recession + position * sin(radians))
        return (position * cos(radians) * scale, scale)
    }

    /// The point of the plane that is seen at `position`; the plane goes on beyond its edges.
    func unprojected(_ position: CGFloat) -> CGFloat {
        position * (depth + recession) / (depth * cos(radians) - position * sin(radians))
    }
}

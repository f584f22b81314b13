public import Foundation

/// The opacity and transform of a view's content, which custom transitions animate.
public struct Pose: Hashable, Sendable {
    /// The opacity, from 0 (invisible) to 1, the default.
    public var opacity: CGFloat
    /// The scale factor around the middle; 1 by default.
    public var scale: CGFloat
    /// The clockwise rotation around the middle, in degrees; 0 by default.
    public var rotation: CGFloat
    /// The translation, in points; zero by default.
    public var offset: CGPoint

    public init(
        opacity: CGFloat = 1, scale: CGFloat = 1, rotation: CGFloat = 0, offset: CGPoint = .zero
    ) {
        self.opacity = opacity
        self.scale = scale
        self.rotation = rotation
        self.offset = offset
    }

    /// Returns the interpolation between this pose and `other` at `progress`, 0 … 1.
    func moved(to other: Pose, progress: CGFloat) -> Pose {
        func mixed(_ start: CGFloat, _ end: CGFloat) -> CGFloat { start + (end - start) * progress }
        return Pose(
            opacity: mixed(opacity, other.opacity), scale: mixed(scale, other.scale),
            rotation: mixed(rotation, other.rotation),
            offset: CGPoint(x: mixed(offset.x, other.offset.x), y: mixed(offset.y, other.offset.y)))
    }
}

extension Snapshot {
    /// Applies `pose` to the drawing of `body`, in an area from the origin to `size`.
    func posed(_ pose: Pose, size: CGSize, _ body: () -> Void) {
        guard pose != Pose() else { return body() }
        faded(opacity: min(max(pose.opacity, 0), 1)) {
            transformed {
                translate(x: size.width / 2 + pose.offset.x, y: size.height / 2 + pose.offset.y)
                rotate(degrees: pose.rotation, x: 0, y: 0, z: 1)
                scale(x: pose.scale, y: pose.scale)
                translate(x: -size.width / 2, y: -size.height / 2)
                body()
            }
        }
    }
}

/// Which part of a picture stays when it is cut, and where it lies on a larger canvas.
public enum Gravity: Sendable, Hashable {
    /// One of the nine places, moved inwards by offsets.
    ///
    /// An offset of magnitude 1 or more is in pixels, a smaller one is a share of the outer side.
    case anchor(Anchor, x: Double = 0, y: Double = 0)
    /// The point at these shares of the sides, 0…1, becomes the middle.
    case focus(x: Double, y: Double)
    /// Where the picture is interesting.
    case smart

    public static let centre = Gravity.anchor(.centre)

    var arguments: [String] {
        switch self {
        case .smart: ["sm"]
        case .focus(let x, let y): ["fp", Numbers.text(x), Numbers.text(y)]
        case .anchor(let anchor, let x, let y):
            [anchor.rawValue, Numbers.text(x), Numbers.text(y)]
        }
    }

    /// The middle, the sides and the corners, by the names that URLs use.
    public enum Anchor: String, Sendable, Hashable, CaseIterable {
        case centre = "ce"
        case north = "no"
        case south = "so"
        case east = "ea"
        case west = "we"
        case northEast = "noea"
        case northWest = "nowe"
        case southEast = "soea"
        case southWest = "sowe"
    }
}

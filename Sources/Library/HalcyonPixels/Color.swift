public import Foundation

/// An sRGB colour with straight alpha, each component 0…1 (extended values outside are kept).
public struct Color: Hashable, Sendable {
    public var red: CGFloat
    public var green: CGFloat
    public var blue: CGFloat
    public var alpha: CGFloat

    public init(red: CGFloat, green: CGFloat, blue: CGFloat, alpha: CGFloat = 1) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// A grey of the given brightness.
    public init(white: CGFloat, alpha: CGFloat = 1) {
        self.init(red: white, green: white, blue: white, alpha: alpha)
    }

    public static let black = Color(white: 0)
    public static let white = Color(white: 1)
    public static let gray = Color(white: 0.5)
    public static let red = Color(red: 1, green: 0, blue: 0)
    public static let green = Color(red: 0, green: 1, blue: 0)
    public static let blue = Color(red: 0, green: 0, blue: 1)
    public static let yellow = Color(red: 1, green: 1, blue: 0)
    public static let clear = Color(white: 0, alpha: 0)
}

extension Color {
    /// The components within 0…1.
    var clamped: Color {
        Color(red: red.clamped, green: green.clamped, blue: blue.clamped, alpha: alpha.clamped)
    }

    func components(times factor: Double) -> [Double] {
        [red * factor, green * factor, blue * factor]
    }
}

extension CGFloat {
    /// Within 0…1; 0 for what is not a number.
    var clamped: CGFloat { self > 0 ? CGFloat.minimum(self, 1) : 0 }
}

import Foundation

extension Color {
    /// The components within 0…1.
    var clamped: Color {
        Color(red: red.clamped, green: green.clamped, blue: blue.clamped, alpha: alpha.clamped)
    }

    /// The colour with another opacity.
    init(_ color: Color, alpha: CGFloat) {
        self.init(red: color.red, green: color.green, blue: color.blue, alpha: alpha)
    }

    /// Red, green and blue times `factor`.
    func components(times factor: Double) -> [Double] {
        [red * factor, green * factor, blue * factor]
    }
}

extension CGFloat {
    /// Within 0…1; 0 for what is not a number.
    var clamped: CGFloat { self > 0 ? CGFloat.minimum(self, 1) : 0 }
}

public import Foundation

extension Color {
    /// Relative luminance as WCAG 2.1 defines it, 0 (black) … 1 (white); opacity does not count.
    public var relativeLuminance: CGFloat {
        let color = clamped
        return 0.2126 * LinearLight.decode(color.red) + 0.7152 * LinearLight.decode(color.green)
            + 0.0722 * LinearLight.decode(color.blue)
    }

    /// How well two colours stand apart, 1 (not at all) … 21 (black and white), as WCAG 2.1 defines it.
    ///
    /// Texts should have 4.5, large ones 3. Opacity does not count.
    public func contrastRatio(to other: Color) -> CGFloat {
        let (first, second) = (relativeLuminance, other.relativeLuminance)
        return (max(first, second) + 0.05) / (min(first, second) + 0.05)
    }

    /// A colour for texts on a background of this one.
    ///
    /// - Parameters:
    ///   - candidates: The first of them with enough contrast is taken; without one black or white,
    ///     whichever has more. One of the two always has at least 4.58.
    ///   - minimumContrast: What is enough, 1…21. 4.5 by default.
    public func textColor(
        preferring candidates: [Color] = [], minimumContrast: CGFloat = 4.5
    ) -> Color {
        if let color = candidates.first(where: { contrastRatio(to: $0) >= minimumContrast }) {
            return color
        }
        return contrastRatio(to: .black) >= contrastRatio(to: .white) ? .black : .white
    }
}

public import Foundation

/// A colour of CIELAB (CIE 15:2004) under D65, in which equal distances look about equally large.
struct LabColor {
    /// Lightness 0…100, green to red, blue to yellow.
    var components: SIMD3<Double>

    /// The square of the distance (ΔE*ab of 1976).
    func squaredDistance(to other: LabColor) -> Double {
        let difference = components - other.components
        return (difference * difference).sum()
    }
}

extension LabColor {
    /// The white of D65, as the sum of sRGB's primaries has it.
    private static let white =
        SIMD3(0.4124564, 0.2126729, 0.0193339)
        + SIMD3(0.3575761, 0.7151522, 0.1191920) + SIMD3(0.1804375, 0.0721750, 0.9503041)

    /// - Parameter srgb: Encoded values, 0…1.
    init(srgb: SIMD3<Double>) {
        let light = srgb.map(LinearLight.decode)
        let xyz =
            SIMD3(0.4124564, 0.2126729, 0.0193339) * light.x
            + SIMD3(0.3575761, 0.7151522, 0.1191920) * light.y
            + SIMD3(0.1804375, 0.0721750, 0.9503041) * light.z
        let roots = (xyz / Self.white).map {
            $0 > 216.0 / 24389 ? cbrt($0) : ($0 * 24389 / 27 + 16) / 116
        }
        components = SIMD3(
            116 * roots.y - 16, 500 * (roots.x - roots.y), 200 * (roots.y - roots.z))
    }

    /// Encoded values, 0…1; what sRGB does not have is cut off.
    var srgb: SIMD3<Double> {
        let middle = (components.x + 16) / 116
        let roots = SIMD3(middle + components.y / 500, middle, middle - components.z / 200)
        let xyz =
            roots.map { root in
                let cube = root * root * root
                return cube > 216.0 / 24389 ? cube : (116 * root - 16) * 27 / 24389
            } * Self.white
        let light =
            SIMD3(3.2404542, -0.9692660, 0.0556434) * xyz.x
            + SIMD3(-1.5371385, 1.8760108, -0.2040259) * xyz.y
            + SIMD3(-0.4985314, 0.0415560, 1.0572252) * xyz.z
        return light.clamped(lowerBound: .zero, upperBound: .one).map(LinearLight.encode)
            .clamped(lowerBound: .zero, upperBound: .one)
    }
}

extension Color {
    /// Relative luminance as WCAG 2.1 defines it, 0 (black) … 1 (white); opacity does not count.
    public var relativeLuminance: CGFloat {
        let color = clamped
        return 0.2126 * LinearLight.decode(color.red) + 0.7152 * LinearLight.decode(color.green)
            + 0.0722 * LinearLight.decode(color.blue)
    }

    /// The contrast ratio of two colours, 1 (none) … 21 (black and white), as WCAG 2.1 defines it.
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
    ///   - minimumContrast: The least contrast, 1…21. 4.5 by default.
    public func textColor(
        preferring candidates: [Color] = [], minimumContrast: CGFloat = 4.5
    ) -> Color {
        if let color = candidates.first(where: { contrastRatio(to: $0) >= minimumContrast }) {
            return color
        }
        return contrastRatio(to: .black) >= contrastRatio(to: .white) ? .black : .white
    }
}

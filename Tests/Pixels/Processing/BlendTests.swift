import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Blend modes against the W3C's formulas, written out here in another way.
@Suite struct BlendTests {
    private typealias Vector = SIMD4<Double>

    /// `B(Cb, Cs)` of the separable modes.
    private static func mix(_ mode: BlendMode, _ b: Double, _ s: Double) -> Double {
        switch mode {
        case .multiply: return b * s
        case .screen: return 1 - (1 - b) * (1 - s)
        case .overlay: return b <= 0.5 ? 2 * b * s : 1 - 2 * (1 - b) * (1 - s)
        case .hardLight: return s <= 0.5 ? 2 * b * s : 1 - 2 * (1 - b) * (1 - s)
        case .darken: return Swift.min(b, s)
        case .lighten: return Swift.max(b, s)
        case .colorDodge: return b == 0 ? 0 : s == 1 ? 1 : Swift.min(1, b / (1 - s))
        case .colorBurn: return b == 1 ? 1 : s == 0 ? 0 : 1 - Swift.min(1, (1 - b) / s)
        case .softLight:
            if s <= 0.5 { return b - (1 - 2 * s) * b * (1 - b) }
            let d = b <= 0.25 ? ((16 * b - 12) * b + 4) * b : b.squareRoot()
            return b + (2 * s - 1) * (d - b)
        case .difference: return Swift.max(b, s) - Swift.min(b, s)
        case .exclusion: return b + s - 2 * b * s
        default: return s
        }
    }

    private static func luminosity(_ c: [Double]) -> Double {
        c[0] * 0.3 + c[1] * 0.59 + c[2] * 0.11
    }

    private static func setLuminosity(_ c: [Double], _ target: Double) -> [Double] {
        var c = c.map { $0 + target - luminosity(c) }
        let (l, n, x) = (luminosity(c), c.min()!, c.max()!)
        if n < 0 { c = c.map { l + ($0 - l) * l / (l - n) } }
        if x > 1 { c = c.map { l + ($0 - l) * (1 - l) / (x - l) } }
        return c
    }

    /// `SetSat` by sorting, as the specification words it.
    private static func setSaturation(_ c: [Double], _ target: Double) -> [Double] {
        let order = [0, 1, 2].sorted { c[$0] < c[$1] }
        let (low, middle, high) = (order[0], order[1], order[2])
        var result = [0.0, 0, 0]
        if c[high] > c[low] {
            result[middle] = (c[middle] - c[low]) * target / (c[high] - c[low])
            result[high] = target
        }
        return result
    }

    private static func nonseparable(_ mode: BlendMode, _ b: [Double], _ s: [Double]) -> [Double] {
        let saturation = { (c: [Double]) in c.max()! - c.min()! }
        return switch mode {
        case .hue: setLuminosity(setSaturation(s, saturation(b)), luminosity(b))
        case .saturation: setLuminosity(setSaturation(b, saturation(s)), luminosity(b))
        case .color: setLuminosity(s, luminosity(b))
        default: setLuminosity(b, luminosity(s))
        }
    }

    /// Source and backdrop parts of the Porter-Duff operators, with both opacities.
    private static func parts(_ mode: BlendMode, _ a: Double, _ b: Double) -> (Double, Double)? {
        switch mode {
        case .clear: (0, 0)
        case .copy: (1, 0)
        case .sourceIn: (b, 0)
        case .sourceOut: (1 - b, 0)
        case .sourceAtop: (b, 1 - a)
        case .destinationOver: (1 - b, 1)
        case .destinationIn: (0, a)
        case .destinationOut: (0, 1 - a)
        case .destinationAtop: (1 - b, a)
        case .xor: (1 - b, 1 - a)
        default: nil
        }
    }

    /// Premultiplied all through, and divided at the end.
    private static func composite(_ mode: BlendMode, _ s: Vector, _ b: Vector) -> Vector {
        var colour = [0.0, 0, 0]
        var alpha = s.w + b.w - s.w * b.w
        if let (fs, fb) = parts(mode, s.w, b.w) {
            alpha = s.w * fs + b.w * fb
            colour = (0..<3).map { s[$0] * s.w * fs + b[$0] * b.w * fb }
        } else if mode == .plusLighter {
            alpha = Swift.min(1, s.w + b.w)
            colour = (0..<3).map { Swift.min(1, s[$0] * s.w + b[$0] * b.w) }
        } else if mode == .plusDarker {
            alpha = Swift.min(1, s.w + b.w)
            colour = (0..<3).map {
                Swift.max(0, alpha - (b.w - b[$0] * b.w) - (s.w - s[$0] * s.w))
            }
        } else {
            let mixed: [Double] =
                [.hue, .saturation, .color, .luminosity].contains(mode)
                ? nonseparable(mode, [b.x, b.y, b.z], [s.x, s.y, s.z])
                : (0..<3).map { mix(mode, b[$0], s[$0]) }
            colour = (0..<3).map {
                s.w * (1 - b.w) * s[$0] + s.w * b.w * mixed[$0] + (1 - s.w) * b.w * b[$0]
            }
        }
        guard alpha > 0 else { return .zero }
        return Vector(colour[0] / alpha, colour[1] / alpha, colour[2] / alpha, alpha)
    }

    @Test(arguments: BlendMode.allCases)
    func followsTheFormula(_ mode: BlendMode) throws {
        let backgrounds: [Color?] = [
            nil, Color(red: 0.8, green: 0.3, blue: 0.1), .white, .black,
            Color(red: 0.2, green: 0.6, blue: 0.9, alpha: 0.5),
        ]
        for kind in PixelKind.all {
            let picture = kind.noise(width: 7, height: 5)
            for background in backgrounds {
                for alpha in [1, 0.6] {
                    let image = kind.image(picture).kf.image(
                        withBlendMode: mode, alpha: alpha, backgroundColor: background)
                    let expected = picture.map {
                        let source = $0.with(alpha: $0.w * alpha)
                        return Self.composite(mode, source, (background ?? .clear).vector)
                    }
                    #expect(try Picture(image).difference(to: expected) <= kind.step * 2.5)
                    #expect(try image.bitmap().hasAlpha == image.hasAlpha)
                }
            }
        }
    }

    @Test func givesNoAlphaOnAnOpaqueBackground() throws {
        let image = Picture.noise(width: 2, height: 2).image()
        #expect(!image.kf.image(withBlendMode: .multiply, backgroundColor: .red).hasAlpha)
        #expect(image.kf.image(withBlendMode: .multiply).hasAlpha)
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Tint, overlay and colour controls against closed forms.
@Suite struct ColorEffectTests {
    private static let paints = [
        Color(red: 1, green: 0.25, blue: 0, alpha: 0.4), Color(red: 0, green: 0.5, blue: 1),
        .clear, Color(white: 1, alpha: 0.01),
    ]

    /// The W3C's source-over of one straight colour over another.
    static func over(_ top: SIMD4<Double>, _ bottom: SIMD4<Double>) -> SIMD4<Double> {
        let alpha = top.w + bottom.w * (1 - top.w)
        guard alpha > 0 else { return .zero }
        return ((top * top.w + bottom * (bottom.w * (1 - top.w))) / alpha).with(alpha: alpha)
    }

    @Test(arguments: PixelKind.all)
    func tintsWithSourceOver(_ kind: PixelKind) throws {
        let picture = kind.noise(width: 9, height: 7)
        for paint in Self.paints {
            let result = try Picture(kind.image(picture).kf.tinted(with: paint))
            let expected = picture.map { Self.over(paint.vector, $0) }
            #expect(result.difference(to: expected) <= kind.step)
        }
    }

    @Test(arguments: PixelKind.all)
    func overlaysWithinTheImagesOwnOpacity(_ kind: PixelKind) throws {
        let picture = kind.noise(width: 9, height: 7)
        let paint = Color(red: 1, green: 0.25, blue: 0)
        for fraction in [0, 0.25, 0.5, 1] {
            let result = try Picture(
                kind.image(picture).kf.overlaying(with: paint, fraction: fraction))
            let expected = picture.map {
                ($0 * fraction + paint.vector * (1 - fraction)).with(alpha: $0.w)
            }
            #expect(result.difference(to: expected) <= kind.step)
        }
    }

    @Test func makesATranslucentOverlaySmaller() throws {
        let picture = Picture.noise(width: 4, height: 4, hasAlpha: false)
        let paint = Color(red: 1, green: 0, blue: 0, alpha: 0.5)
        let result = try Picture(
            picture.image(hasAlpha: false).kf.overlaying(with: paint, fraction: 0.5))
        let expected = picture.map { ($0 * 0.75 + SIMD4(1, 0, 0, 1) * 0.25).with(alpha: 1) }
        #expect(result.difference(to: expected) <= 1.0 / 255)
    }

    /// The four controls as the documentation of `ColorControlsProcessor` lists them.
    private static func adjusted(
        _ pixel: SIMD4<Double>, brightness: Double, contrast: Double, saturation: Double, ev: Double
    ) -> SIMD4<Double> {
        func decode(_ v: Double) -> Double {
            v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
        }
        func encode(_ v: Double) -> Double {
            v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055
        }
        let light = SIMD4(decode(pixel.x), decode(pixel.y), decode(pixel.z), 0)
        let luminance = light.x * 0.2126 + light.y * 0.7152 + light.z * 0.0722
        var result = light * saturation + (1 - saturation) * luminance
        result += brightness
        result = (result - 0.5) * contrast + 0.5
        result *= pow(2, ev)
        result = result.clamped(lowerBound: .zero, upperBound: .one)
        return SIMD4(encode(result.x), encode(result.y), encode(result.z), pixel.w)
    }

    @Test(arguments: PixelKind.all)
    func adjustsLinearLight(_ kind: PixelKind) throws {
        let picture = kind.noise(width: 16, height: 16)
        for (brightness, contrast, saturation, ev) in [
            (0.0, 1.0, 1.0, 0.0), (0.1, 1, 1, 0), (-0.3, 1, 1, 0), (0, 1.5, 1, 0), (0, 0.2, 1, 0),
            (0, 1, 0, 0), (0, 1, 2.5, 0), (0, 1, 1, 1), (0, 1, 1, -3), (0.05, 1.2, 0.7, 0.5),
        ] {
            let result = try Picture(
                kind.image(picture).kf.adjusted(
                    brightness: brightness, contrast: contrast, saturation: saturation, inputEV: ev)
            )
            let expected = picture.map {
                Self.adjusted(
                    $0, brightness: brightness, contrast: contrast, saturation: saturation, ev: ev)
            }
            #expect(result.difference(to: expected) <= kind.step * 1.5)
        }
    }

    @Test func changesNothingAtItsNeutralValues() throws {
        let ramp = Picture(width: 256, height: 1) { x, _ in
            SIMD4(Double(x) / 255, Double(255 - x) / 255, Double(x) / 255, 1)
        }
        let result = try Picture(
            ramp.image().kf.adjusted(brightness: 0, contrast: 1, saturation: 1, inputEV: 0))
        #expect(result.difference(to: ramp) == 0)
    }

    @Test(arguments: PixelKind.all)
    func turnsColorsIntoBrightenedGreys(_ kind: PixelKind) throws {
        let picture = kind.noise(width: 8, height: 8)
        let processed = try BlackWhiteProcessor().applied(to: kind.image(picture))
        let expected = picture.map {
            Self.adjusted($0, brightness: 0, contrast: 1, saturation: 0, ev: 0.7)
        }
        let result = try Picture(processed)
        #expect(result.difference(to: expected) <= kind.step * 1.5)
        for pixel in result.pixels { #expect(pixel.x == pixel.y && pixel.y == pixel.z) }
    }
}

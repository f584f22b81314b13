import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct GreyTests {
    private static func luminance(_ pixel: SIMD4<Double>) -> Double {
        0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z
    }

    @Test(arguments: PixelKind.all)
    func aGreyHasTheLuminanceOfTheColor(_ kind: PixelKind) throws {
        let image = kind.image(kind.noise(width: 9, height: 6))
        let expected = try Picture(image).map { .grey(Self.luminance($0), alpha: $0.w) }
        let result = try Picture(image.kf.grayscale)
        #expect(result.difference(to: expected) <= kind.step * 0.51)
        #expect(result.pixels.allSatisfy { $0.x == $0.y && $0.y == $0.z })
    }

    @Test(arguments: PixelKind.all)
    func onlyBlackAndWhiteAreLeft(_ kind: PixelKind) throws {
        let image = kind.image(kind.noise(width: 9, height: 6))
        let source = try Picture(image)
        let result = try Picture(image.kf.bitonal())
        for (pixel, original) in zip(result.pixels, source.pixels) {
            #expect(pixel.x == 0 || pixel.x == 1)
            #expect(pixel.x == pixel.y && pixel.y == pixel.z && pixel.w == original.w)
            if abs(Self.luminance(original) - 0.5) > kind.step {
                #expect(pixel.x == (Self.luminance(original) > 0.5 ? 1 : 0))
            }
        }
    }

    @Test func whiteBeginsAtTheThreshold() throws {
        let ramp = Picture(width: 256, height: 1) { x, _ in .grey(Double(x) / 255) }
        let image = ramp.image(hasAlpha: false)
        let middle = try Picture(image.kf.bitonal())
        #expect(middle[127, 0].x == 0 && middle[128, 0].x == 1)
        let bright = try Picture(image.kf.bitonal(threshold: 0.8))
        #expect(bright[203, 0].x == 0 && bright[204, 0].x == 1)
        #expect(try Picture(image.kf.bitonal(threshold: 0)).pixels.allSatisfy { $0.x == 1 })
    }
}

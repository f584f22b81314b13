import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct ColorPaletteTests {
    /// Vertical stripes: half red, three tenths green, two tenths blue.
    private static let stripes = HashPicture.bitmap(20, 10) { x, _ in
        x < 10 ? [255, 0, 0, 255] : x < 16 ? [0, 128, 0, 255] : [0, 0, 255, 255]
    }

    @Test func findsTheColorsAndTheirShares() {
        let palette = ColorPalette(Self.stripes, count: 3)
        let expected = [Color.red, Color(red: 0, green: 128.0 / 255, blue: 0), .blue]
        #expect(palette.swatches.count == 3)
        for (swatch, color) in zip(palette.swatches, expected) {
            #expect(swatch.color.isNear(color, within: 0.005))
        }
        for (swatch, share) in zip(palette.swatches, [0.5, 0.3, 0.2]) {
            #expect(abs(swatch.share - share) < 1e-9)
        }
        #expect(palette.dominant == palette.colors.first)
    }

    @Test func hasNoMoreColorsThanThePicture() {
        #expect(ColorPalette(Self.stripes, count: 12).swatches.count == 3)
        #expect(ColorPalette(HashPicture.plain, count: 5).swatches.map(\.share) == [1])
        #expect(ColorPalette(Self.stripes, count: 0).swatches.count == 1)
    }

    @Test func putsSimilarColorsTogether() {
        // Two reds that hardly differ, and one blue.
        let picture = HashPicture.bitmap(12, 4) { x, _ in
            x < 4 ? [200, 20, 20, 255] : x < 8 ? [210, 28, 24, 255] : [20, 20, 200, 255]
        }
        let palette = ColorPalette(picture, count: 2)
        #expect(palette.swatches.count == 2)
        #expect(abs(palette.swatches[0].share - 2.0 / 3) < 1e-9)
        #expect(palette.colors[0].red > 0.78 && palette.colors[1].blue > 0.75)
    }

    @Test func isTheSameEveryTime() {
        let noise = Picture.noise(width: 40, height: 40).bitmap()
        let palette = ColorPalette(noise, count: 8)
        #expect(palette == ColorPalette(noise, count: 8) && palette.swatches.count == 8)
        #expect(abs(palette.swatches.reduce(0) { $0 + $1.share } - 1) < 1e-9)
        let shares = palette.swatches.map(\.share)
        #expect(shares == shares.sorted(by: >))
    }

    @Test func theAverageIsThatOfLight() {
        let board = HashPicture.bitmap(2, 2) { x, y in
            (x + y) % 2 == 0 ? [255, 255, 255, 255] : [0, 0, 0, 255]
        }
        // Half of the light is 188 of 255 in sRGB.
        #expect(abs(ColorPalette(board).average.red - 188.0 / 255) < 0.003)
    }

    @Test func transparentPixelsDoNotCount() {
        let half = HashPicture.bitmap(4, 4) { x, _ in x < 2 ? [0, 0, 255, 255] : [255, 0, 0, 0] }
        let palette = ColorPalette(half)
        #expect(palette.swatches.count == 1 && palette.colors[0].isNear(.blue, within: 0.005))
        #expect(palette.average.isNear(.blue, within: 0.005) && palette.average.alpha == 0.5)
        let clear = ColorPalette(HashPicture.bitmap(3, 3) { _, _ in [9, 9, 9, 0] })
        #expect(clear.swatches.isEmpty && clear.average == .clear && clear.dominant == nil)
    }

    @Test(arguments: [
        // Values of CIE 15 for D65, from colour science's usual tables.
        (SIMD3<Double>(1, 1, 1), SIMD3<Double>(100, 0, 0)),
        (SIMD3<Double>(0, 0, 0), SIMD3<Double>(0, 0, 0)),
        (SIMD3<Double>(1, 0, 0), SIMD3<Double>(53.24, 80.09, 67.20)),
        (SIMD3<Double>(0, 1, 0), SIMD3<Double>(87.73, -86.18, 83.18)),
        (SIMD3<Double>(0, 0, 1), SIMD3<Double>(32.30, 79.19, -107.86)),
    ])
    func measuresColorsAsCIELAB(_ srgb: SIMD3<Double>, _ lab: SIMD3<Double>) {
        let color = LabColor(srgb: srgb)
        let difference = color.components - lab
        #expect((difference * difference).sum() < 0.01)
        let back = color.srgb - srgb
        #expect((back * back).sum() < 1e-6)
    }

    @Test func theContrastIsThatOfWCAG() {
        #expect(abs(Color.black.contrastRatio(to: .white) - 21) < 1e-9)
        #expect(Color.red.contrastRatio(to: .red) == 1)
        // The grey #767676 is known as the lightest with 4.5 on white.
        let grey = Color(white: 0x76 / 255.0)
        #expect(abs(grey.contrastRatio(to: .white) - 4.54) < 0.005)
    }

    @Test func textsAreReadableOnAnyBackground() {
        #expect(Color.yellow.textColor() == .black && Color.blue.textColor() == .white)
        let dark = Color(red: 0.1, green: 0.1, blue: 0.3)
        #expect(dark.textColor(preferring: [.blue, .yellow, .white]) == .yellow)
        #expect(dark.textColor(preferring: [.blue]) == .white)
        for step in 0...100 {
            let grey = Color(white: CGFloat(step) / 100)
            #expect(grey.contrastRatio(to: grey.textColor()) >= 4.5)
        }
    }

    @Test func anImageIsReducedFirst() async throws {
        let image = Picture(width: 300, height: 200) { x, _ in
            x < 200 ? SIMD4(1, 1, 0, 1) : SIMD4(0, 0, 0, 1)
        }.image(hasAlpha: false)
        let palette = try await image.kf.palette(count: 2)
        // Beside an edge a filter leaves traces.
        let yellow = palette.colors[0]
        #expect(min(yellow.red, yellow.green) > 0.97 && yellow.blue < 0.03)
        #expect(abs(palette.swatches[0].share - 2.0 / 3) < 0.03)
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct BlurTests {
    /// The algorithm written out pixel by pixel: means over a square of edge-extended, premultiplied
    /// samples, rounded after each pass.
    private static func blurred(
        _ picture: Picture, side: Int, passes: Int, maximum: Double
    ) -> Picture {
        func rounded(_ pixel: SIMD4<Double>) -> SIMD4<Double> {
            (pixel * maximum).rounded(.toNearestOrAwayFromZero) / maximum
        }
        var current = picture.map { rounded($0 * $0.w).with(alpha: $0.w) }
        for _ in 0..<passes {
            let source = current
            current = Picture(width: source.width, height: source.height) { x, y in
                var sum = SIMD4<Double>.zero
                for dy in (-side / 2)...(side / 2) {
                    for dx in (-side / 2)...(side / 2) { sum += source.extended(x + dx, y + dy) }
                }
                return rounded(sum / Double(side * side))
            }
        }
        return current.map { $0.w > 0 ? ($0 / $0.w).with(alpha: $0.w) : .zero }
    }

    /// Defect: D-7
    @Test(arguments: [(0.2, 5, 1), (1.0, 5, 2), (2, 5, 3), (3, 7, 3), (8, 15, 3)])
    func repeatsABoxFilter(_ radius: Double, _ side: Int, _ passes: Int) throws {
        // 2 → 3.76 + 0.5 → 4 → 5; 3 → 5.64 + 0.5 → 6 → 7; 8 → 15.04 + 0.5 → 15.
        #expect(BoxBlur(radius: radius).side == side && BoxBlur(radius: radius).passes == passes)
        for kind in PixelKind.all {
            for (width, height) in [(17, 11), (3, 20), (1, 1)] {
                let picture = kind.noise(width: width, height: height)
                let expected = Self.blurred(
                    picture, side: side, passes: passes, maximum: 1 / kind.step)
                let result = try Picture(kind.image(picture).kf.blurred(withRadius: radius))
                #expect(result.difference(to: expected) <= kind.step * 1.01)
            }
        }
    }

    @Test func comesCloseToAGaussian() throws {
        // An edge between black and white becomes the normal distribution's integral.
        let edge = Picture(width: 120, height: 3) { x, _ in
            x < 60 ? SIMD4(0, 0, 0, 1) : SIMD4(1, 1, 1, 1)
        }
        let result = try Picture(
            edge.image(hasAlpha: false, depth: .sixteen).kf.blurred(withRadius: 8))
        for x in 0..<120 {
            let expected = 0.5 * (1 + erf((Double(x) + 0.5 - 60) / (8 * 2.0.squareRoot())))
            #expect(abs(result[x, 1].x - expected) < 0.02)
        }
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct WatermarkTests {
    private static let ground = Picture(width: 20, height: 10) { _, _ in SIMD4(0, 0, 1, 1) }
    private static let mark = Picture(width: 4, height: 2) { x, _ in
        x < 2 ? SIMD4(1, 0, 0, 1) : SIMD4(0, 1, 0, 0.5)
    }

    private static func marked(
        _ image: Image, opacity: CGFloat = 1, scale: CGFloat = 0,
        _ placement: WatermarkImageProcessor.Placement, pointScale: CGFloat = 1
    ) throws -> Picture {
        let processor = WatermarkImageProcessor(
            mark.image(), name: "mark", opacity: opacity, scale: scale, placement: placement)
        let result = processor.process(item: .image(image), options: .scale(pointScale))
        return try Picture(try #require(result))
    }

    private static func expected(left: Int, top: Int, opacity: Double = 1) -> Picture {
        Picture(width: 20, height: 10) { x, y in
            guard (left..<(left + 4)).contains(x), (top..<(top + 2)).contains(y) else {
                return ground[x, y]
            }
            let pixel = mark[x - left, y - top]
            return ColorEffectTests.over(pixel.with(alpha: pixel.w * opacity), ground[x, y])
        }
    }

    @Test(arguments: [
        (CGPoint(x: 0.5, y: 0.5), CGPoint.zero, 8, 4), (CGPoint(x: 0, y: 0), .zero, 0, 0),
        (CGPoint(x: 1, y: 1), CGPoint(x: -2, y: -1), 14, 7),
        // Partly, and wholly, beyond the edges.
        (CGPoint(x: 1, y: 1), CGPoint(x: 2, y: 1), 18, 9),
        (CGPoint(x: 0, y: 0), CGPoint(x: -3, y: -1), -3, -1),
        (CGPoint(x: 0, y: 0), CGPoint(x: 40, y: 0), 40, 0),
    ])
    func liesWhereItIsPut(_ anchor: CGPoint, _ offset: CGPoint, _ left: Int, _ top: Int) throws {
        for depth in [Bitmap.Depth.eight, .sixteen] {
            let image = Self.ground.image(hasAlpha: false, depth: depth)
            let result = try Self.marked(image, .once(anchor: anchor, offset: offset))
            #expect(result.difference(to: Self.expected(left: left, top: top)) <= 1.0 / 255)
        }
    }

    @Test func opacityIsMultiplied() throws {
        let image = Self.ground.image(hasAlpha: false)
        let result = try Self.marked(image, opacity: 0.5, .once(anchor: CGPoint(x: 0.5, y: 0.5)))
        let expected = Self.expected(left: 8, top: 4, opacity: 0.5)
        #expect(result.difference(to: expected) <= 1.0 / 255)
        let unseen = try Self.marked(image, opacity: 0, .once(anchor: .zero))
        #expect(unseen == (try Picture(image)))
    }

    @Test func theScaleIsAPartOfTheImage() throws {
        // Half of 20×10 is 10×5, into which 4×2 fits as 10×5.
        let result = try Self.marked(
            Self.ground.image(hasAlpha: false), scale: 0.5, .once(anchor: .zero))
        let opaque = result.pixels.indices.filter { result.pixels[$0].x > 0.9 }
        #expect(opaque.allSatisfy { $0 % 20 < 5 && $0 / 20 < 5 } && opaque.count >= 20)
        #expect(result[10, 2] == Self.ground[10, 2] && result[9, 4].y > 0.3)
        #expect(result[2, 5] == Self.ground[2, 5])
    }

    @Test func tilesCoverTheImageFromTheMiddle() throws {
        let plain = try Self.marked(Self.ground.image(hasAlpha: false), .tiled())
        let middle = Self.expected(left: 8, top: 4)
        let repeated = Picture(width: 20, height: 10) {
            plain[8 + ($0 + 72) % 4, 4 + ($1 + 36) % 2]
        }
        #expect(plain == repeated && abs(plain[8, 4].x - middle[8, 4].x) <= 1.0 / 255)
        let spaced = try Self.marked(
            Self.ground.image(hasAlpha: false), .tiled(gap: CGSize(width: 2, height: 2)))
        for y in 0..<10 {
            for x in 0..<20 {
                // One of 4×2 in each 6×4, of which the one in the middle begins at 7,3.
                let (column, row) = ((x + 60 - 7) % 6, (y + 40 - 3) % 4)
                let isMark = (1..<5).contains(column) && (1..<3).contains(row)
                #expect((spaced[x, y] != Self.ground[x, y]) == isMark)
            }
        }
    }

    @Test func offsetsAndGapsArePoints() throws {
        let image = Self.ground.image(hasAlpha: false)
        let result = try Self.marked(
            image, .once(anchor: .zero, offset: CGPoint(x: 3, y: 2)), pointScale: 2)
        #expect(result.difference(to: Self.expected(left: 6, top: 4)) <= 1.0 / 255)
    }

    @Test func aTransparentImageIsMarkedToo() throws {
        let clear = Picture(width: 20, height: 10) { _, _ in .zero }
        let result = try Self.marked(clear.image(), .once(anchor: .zero))
        #expect(result[0, 0] == SIMD4(1, 0, 0, 1) && abs(result[3, 0].w - 0.5) < 0.01)
        #expect(result[5, 5].w == 0)
    }

    @Test func theNameStandsForTheWatermark() {
        func identifier(_ name: String, _ placement: WatermarkImageProcessor.Placement) -> String {
            WatermarkImageProcessor(
                Self.mark.image(), name: name, opacity: 0.5, scale: 0.25, placement: placement
            ).identifier
        }
        #expect(
            identifier("logo", .once(anchor: CGPoint(x: 1, y: 0), offset: CGPoint(x: -2, y: 3)))
                == "com.onevcat.Kingfisher.WatermarkImageProcessor"
                + "(0.5_0.25_(1.0, 0.0)_(-2.0, 3.0))_logo")
        #expect(
            identifier("logo", .tiled(gap: CGSize(width: 4, height: 5)))
                == "com.onevcat.Kingfisher.WatermarkImageProcessor(0.5_0.25_tiled_(4.0, 5.0))_logo")
        let processor = WatermarkImageProcessor(Self.mark.image(), name: "logo")
        #expect(ImageProcessorSpec.text(of: processor) == nil)
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Rounded corners and borders against masks found by sampling.
@Suite struct CornerTests {
    /// Whether a point is inside of a rounded rectangle.
    private struct Shape {
        let width: Int
        let height: Int
        /// The distance from the edges of a picture.
        var inset = 0.0
        let radius: Double
        var corners = RectCorner.all

        func contains(_ x: Double, _ y: Double) -> Bool {
            let (right, below) = (x - Double(width) / 2, y - Double(height) / 2)
            // Up to the edges, negative inside.
            let dx = abs(right) - Double(width) / 2 + inset
            let dy = abs(below) - Double(height) / 2 + inset
            guard dx < 0, dy < 0 else { return false }
            let (left, top) = (right < 0, below < 0)
            let corner: RectCorner =
                top ? (left ? .topLeft : .topRight) : (left ? .bottomLeft : .bottomRight)
            // Beyond the middle of the corner's circle.
            let (across, down) = (max(0, dx + radius), max(0, dy + radius))
            return !corners.contains(corner) || across * across + down * down <= radius * radius
        }
    }

    /// The part of each pixel's 16 × 16 samples that are inside.
    private static func sampled(
        width: Int, height: Int, _ isInside: (Double, Double) -> Bool
    ) -> Picture {
        Picture(width: width, height: height) { x, y in
            var count = 0
            for sample in 0..<256 {
                let (sx, sy) = (Double(sample % 16) + 0.5, Double(sample / 16) + 0.5)
                if isInside(Double(x) + sx / 16, Double(y) + sy / 16) { count += 1 }
            }
            return SIMD4(repeating: Double(count) / 256)
        }
    }

    /// What sampling and rounding may be wrong by.
    private static let tolerance = 0.03

    private static let shapes: [(Int, Int, Double, RectCorner)] = [
        (30, 20, 8, .all), (30, 20, 10, .all), (21, 21, 100, .all), (13, 29, 6.5, .all),
        (13, 29, 3.3, [.topLeft, .bottomRight]), (16, 16, 5, .topRight), (40, 9, 4.2, .bottomLeft),
        (8, 8, 0, .all), (8, 8, -3, .all), (1, 1, 5, .all), (2, 3, 1, .all), (9, 9, 4, []),
    ]

    @Test(arguments: shapes)
    func coversExactlyTheRoundedRectangle(
        _ width: Int, _ height: Int, _ radius: Double, _ corners: RectCorner
    ) throws {
        let used = max(0, min(radius, Double(min(width, height)) / 2))
        let shape = Shape(width: width, height: height, radius: used, corners: corners)
        let expected = Self.sampled(width: width, height: height, shape.contains)
        for kind in PixelKind.all {
            let picture = kind.noise(width: width, height: height)
            let result = try Picture(
                kind.image(picture).kf.image(
                    withRoundRadius: radius, fit: CGSize(width: width, height: height),
                    roundingCorners: corners))
            for index in result.pixels.indices {
                let (pixel, source) = (result.pixels[index], picture.pixels[index])
                #expect(abs(pixel.w - source.w * expected.pixels[index].w) <= Self.tolerance)
                if pixel.w > 0 { #expect(abs(pixel.x - source.x) <= kind.step / 2) }
            }
        }
    }

    @Test func coversTheAreaOfADisc() throws {
        // The sum over all pixels is πr², for any radius; only rounding to 16 bits is lost.
        for side in [7, 20, 33] {
            let white = Picture(width: side, height: side) { _, _ in .one }
            let result = try Picture(
                white.image(hasAlpha: false, depth: .sixteen).kf.image(
                    withRadius: .widthFraction(0.5), fit: CGSize(width: side, height: side)))
            let area = result.pixels.reduce(0) { $0 + $1.w }
            #expect(abs(area - .pi * Double(side * side) / 4) < 0.01)
        }
    }

    @Test(arguments: PixelKind.all)
    func showsTheBackgroundBehindTheCorners(_ kind: PixelKind) throws {
        let picture = kind.noise(width: 12, height: 10)
        let size = CGSize(width: 12, height: 10)
        let cut = try Picture(kind.image(picture).kf.image(withRoundRadius: 4, fit: size))
        for background in [Color.red, Color(red: 0, green: 0, blue: 1, alpha: 0.3)] {
            let image = kind.image(picture).kf.image(
                withRoundRadius: 4, fit: size, backgroundColor: background)
            #expect(image.hasAlpha == (background.alpha < 1))
            let expected = cut.map { ColorEffectTests.over($0, background.vector) }
            #expect(try Picture(image).difference(to: expected) <= kind.step * 2)
        }
    }

    @Test func scalesThePointsAndResamplesFirst() throws {
        let white = Picture(width: 24, height: 24) { _, _ in .one }
        for scale in [1, 2, 3] {
            let processor = RoundCornerImageProcessor(
                cornerRadius: 3, targetSize: CGSize(width: 8, height: 10))
            let result = try processor.applied(
                to: white.image(hasAlpha: false), scale: CGFloat(scale))
            #expect(result.size == CGSize(width: 8, height: 10))
            let (width, height) = (8 * scale, 10 * scale)
            let shape = Shape(width: width, height: height, radius: 3 * Double(scale))
            let mask = Self.sampled(width: width, height: height, shape.contains)
            let picture = try Picture(result)
            for (pixel, sample) in zip(picture.pixels, mask.pixels) {
                #expect(abs(pixel.w - sample.w) <= Self.tolerance)
            }
        }
    }

    @Test(arguments: [
        Border(color: .red, lineWidth: 3), Border(color: .blue, lineWidth: 2.5),
        Border(
            color: Color(red: 0, green: 1, blue: 0, alpha: 0.5), lineWidth: 4, radius: .point(6)),
        Border(color: .black, lineWidth: 6, radius: .point(2)),
        Border(
            color: .white, lineWidth: 2, radius: .widthFraction(0.25),
            roundingCorners: [.topLeft, .bottomRight]),
        Border(color: .red, lineWidth: 50), Border(color: .red, lineWidth: 0),
        Border(color: .red, lineWidth: 3, radius: .point(100)),
    ])
    func drawsTheLineInsideOfTheEdges(_ border: Border) throws {
        let (width, height) = (20, 16)
        let half = border.lineWidth / 2
        // The corners of the line's middle have the radius; its edges are at a distance of half a
        // line, and a radius that half a line uses up leaves a sharp corner.
        let room = min(Double(width), Double(height)) / 2
        let asked = border.radius.compute(with: CGSize(width: width, height: height))
        let middle = max(0, min(asked, room, room - half))
        let corners = border.roundingCorners
        let outer = Shape(
            width: width, height: height, radius: middle > 0 ? middle + half : 0, corners: corners)
        let inner = Shape(
            width: width, height: height, inset: half * 2, radius: max(0, middle - half),
            corners: corners)
        let mask = Self.sampled(width: width, height: height) {
            outer.contains($0, $1) && !inner.contains($0, $1)
        }
        for kind in PixelKind.all {
            let picture = kind.noise(width: width, height: height)
            let result = try Picture(kind.image(picture).kf.addingBorder(border))
            let expected = Picture(width: width, height: height) { x, y in
                let paint = border.color.vector
                let covered = paint.with(alpha: paint.w * mask[x, y].w)
                return ColorEffectTests.over(covered, picture[x, y])
            }
            #expect(result.difference(to: expected) <= Self.tolerance * 1.5)
        }
    }

    @Test func doesNotRescaleBeforeABorder() throws {
        let image = Picture.noise(width: 12, height: 12).image(scale: 2)
        let processor = BorderImageProcessor(border: Border(color: .red, lineWidth: 2))
        let result = try processor.applied(to: image)
        #expect(result.scale == 2)
        let picture = try Picture(result)
        #expect(picture[3, 6].x == 1 && picture[3, 6].y == 0)
        #expect(picture[4, 6] == (try Picture(image))[4, 6])
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct GeometryTests {
    /// Upstream: testSizeContent
    @Test func fitsFillsAndDistortsASquare() {
        let square = CGSize(width: 100, height: 100)
        let target = CGSize(width: 100, height: 50)
        #expect(square.kf.resize(to: target, for: .aspectFit) == CGSize(width: 50, height: 50))
        #expect(square.kf.resize(to: target, for: .aspectFill) == CGSize(width: 100, height: 100))
        #expect(square.kf.resize(to: target, for: .none) == target)
    }

    @Test func roundsTheDerivedSideToWholePoints() {
        let size = CGSize(width: 300, height: 200)
        #expect(
            size.kf.constrained(CGSize(width: 100, height: 100)) == CGSize(width: 100, height: 67))
        #expect(size.kf.filling(CGSize(width: 100, height: 100)) == CGSize(width: 150, height: 100))
        #expect(size.kf.filling(CGSize(width: 100, height: 20)) == CGSize(width: 100, height: 67))
    }

    @Test func takesASizeWithoutHeightAsASquare() {
        let flat = CGSize(width: 100, height: 0)
        #expect(flat.kf.constrained(CGSize(width: 30, height: 20)) == CGSize(width: 20, height: 20))
    }

    private static let anchors = [
        CGPoint(x: 0, y: 0), CGPoint(x: 0.5, y: 0.5), CGPoint(x: 1, y: 1), CGPoint(x: -0.1, y: 2),
    ]

    /// Per size: the rectangles at the top left, the centre, the bottom right, and for an anchor
    /// outside of 0…1.
    private static let rectangles: [(CGSize, [CGRect])] = [
        (
            size(20, 20),
            [rect(0, 0, 20, 20), rect(40, 40, 20, 20), rect(80, 80, 20, 20), rect(0, 80, 20, 20)]
        ),
        (
            size(20, 120),
            [rect(0, 0, 20, 100), rect(40, 0, 20, 100), rect(80, 0, 20, 100), rect(0, 0, 20, 100)]
        ),
        (
            size(120, 20),
            [rect(0, 0, 100, 20), rect(0, 40, 100, 20), rect(0, 80, 100, 20), rect(0, 80, 100, 20)]
        ),
        (size(120, 120), Array(repeating: rect(0, 0, 100, 100), count: 4)),
        (size(100, 100), Array(repeating: rect(0, 0, 100, 100), count: 4)),
        (
            size(25, 75),
            [
                rect(0, 0, 25, 75), rect(37.5, 12.5, 25, 75), rect(75, 25, 25, 75),
                rect(0, 25, 25, 75),
            ]
        ),
    ]

    private static func size(_ width: CGFloat, _ height: CGFloat) -> CGSize {
        CGSize(width: width, height: height)
    }

    private static func rect(
        _ x: CGFloat, _ y: CGFloat, _ width: CGFloat, _ height: CGFloat
    ) -> CGRect {
        CGRect(x: x, y: y, width: width, height: height)
    }

    /// Upstream: testSizeConstraintByAnchor
    @Test func placesTwentyFourRectanglesByTheirAnchor() {
        let base = CGSize(width: 100, height: 100)
        for (size, expected) in Self.rectangles {
            for (anchor, rectangle) in zip(Self.anchors, expected) {
                #expect(base.kf.constrainedRect(for: size, anchor: anchor) == rectangle)
            }
        }
    }

    @Test func computesRadiiFromPointsAndFractions() {
        let size = CGSize(width: 40, height: 10)
        #expect(Radius.point(7).compute(with: size) == 7)
        #expect(Radius.widthFraction(0.5).compute(with: size) == 20)
        #expect(Radius.heightFraction(0.5).compute(with: size) == 5)
    }

    @Test func survivesSizesThatAreNoSizes() {
        for side in [CGFloat.nan, .infinity, -.infinity, -5, 0, 1e300] {
            let size = PixelSize(points: CGSize(width: side, height: side), scale: 1)
            #expect((1...10_000_000).contains(size.width))
        }
    }
}

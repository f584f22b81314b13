import Foundation
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
            CGSize(width: 20, height: 20),
            [
                CGRect(x: 0, y: 0, width: 20, height: 20),
                CGRect(x: 40, y: 40, width: 20, height: 20),
                CGRect(x: 80, y: 80, width: 20, height: 20),
                CGRect(x: 0, y: 80, width: 20, height: 20),
            ]
        ),
        (
            CGSize(width: 20, height: 120),
            [
                CGRect(x: 0, y: 0, width: 20, height: 100),
                CGRect(x: 40, y: 0, width: 20, height: 100),
                CGRect(x: 80, y: 0, width: 20, height: 100),
                CGRect(x: 0, y: 0, width: 20, height: 100),
            ]
        ),
        (
            CGSize(width: 120, height: 20),
            [
                CGRect(x: 0, y: 0, width: 100, height: 20),
                CGRect(x: 0, y: 40, width: 100, height: 20),
                CGRect(x: 0, y: 80, width: 100, height: 20),
                CGRect(x: 0, y: 80, width: 100, height: 20),
            ]
        ),
        (
            CGSize(width: 120, height: 120),
            Array(repeating: CGRect(x: 0, y: 0, width: 100, height: 100), count: 4)
        ),
        (
            CGSize(width: 100, height: 100),
            Array(repeating: CGRect(x: 0, y: 0, width: 100, height: 100), count: 4)
        ),
        (
            CGSize(width: 25, height: 75),
            [
                CGRect(x: 0, y: 0, width: 25, height: 75),
                CGRect(x: 37.5, y: 12.5, width: 25, height: 75),
                CGRect(x: 75, y: 25, width: 25, height: 75),
                CGRect(x: 0, y: 25, width: 25, height: 75),
            ]
        ),
    ]

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

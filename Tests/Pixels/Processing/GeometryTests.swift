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
    private static let rectangles: [(size: [CGFloat], rectangles: [[CGFloat]])] = [
        ([20, 20], [[0, 0, 20, 20], [40, 40, 20, 20], [80, 80, 20, 20], [0, 80, 20, 20]]),
        ([20, 120], [[0, 0, 20, 100], [40, 0, 20, 100], [80, 0, 20, 100], [0, 0, 20, 100]]),
        ([120, 20], [[0, 0, 100, 20], [0, 40, 100, 20], [0, 80, 100, 20], [0, 80, 100, 20]]),
        ([120, 120], Array(repeating: [0, 0, 100, 100], count: 4)),
        ([100, 100], Array(repeating: [0, 0, 100, 100], count: 4)),
        ([25, 75], [[0, 0, 25, 75], [37.5, 12.5, 25, 75], [75, 25, 25, 75], [0, 25, 25, 75]]),
    ]

    /// Upstream: testSizeConstraintByAnchor
    @Test func placesTwentyFourRectanglesByTheirAnchor() {
        let base = CGSize(width: 100, height: 100)
        for (size, expected) in Self.rectangles {
            for (anchor, rectangle) in zip(Self.anchors, expected) {
                let found = base.kf.constrainedRect(
                    for: CGSize(width: size[0], height: size[1]), anchor: anchor)
                #expect([found.minX, found.minY, found.width, found.height] == rectangle)
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

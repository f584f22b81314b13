import Foundation
import Testing

@testable import HalcyonGTK

@Suite struct PicturePlacementTests {
    private func rect(
        _ mode: PicturePlacement.Mode, _ alignment: PicturePlacement.Alignment = .center,
        scaleFactor: CGFloat = 1, of size: CGSize = CGSize(width: 40, height: 20),
        in bounds: CGSize = CGSize(width: 100, height: 100)
    ) -> CGRect {
        PicturePlacement(mode: mode, alignment: alignment)
            .rect(of: size, in: bounds, scaleFactor: scaleFactor)
    }

    @Test func aFittedPictureIsSeenAsAWhole() {
        #expect(rect(.fit) == CGRect(x: 0, y: 25, width: 100, height: 50))
        #expect(rect(.fit, .topLeft) == CGRect(x: 0, y: 0, width: 100, height: 50))
        #expect(rect(.fit, .bottomRight) == CGRect(x: 0, y: 50, width: 100, height: 50))
    }

    @Test func aFillingPictureLeavesNothingFree() {
        #expect(rect(.fill) == CGRect(x: -50, y: 0, width: 200, height: 100))
        #expect(rect(.fill, .left) == CGRect(x: 0, y: 0, width: 200, height: 100))
        #expect(rect(.fill, .right) == CGRect(x: -100, y: 0, width: 200, height: 100))
    }

    @Test func aCentredPictureKeepsItsSize() {
        #expect(rect(.center) == CGRect(x: 30, y: 40, width: 40, height: 20))
        #expect(rect(.center, .bottomLeft) == CGRect(x: 0, y: 80, width: 40, height: 20))
    }

    @Test func aStretchedPictureTakesTheWholeArea() {
        #expect(rect(.stretch, .topLeft) == CGRect(x: 0, y: 0, width: 100, height: 100))
    }

    @Test(arguments: [(1.0, 31.0), (2.0, 30.5)])
    func edgesLieBetweenPixelsOfTheScreen(scaleFactor: CGFloat, x: CGFloat) {
        let odd = rect(
            .center, scaleFactor: scaleFactor, of: CGSize(width: 39, height: 20))
        #expect(odd == CGRect(x: x, y: 40, width: 39, height: 20))
    }

    @Test func whatHasNoExtentIsNowhere() {
        #expect(rect(.fit, of: .zero).isEmpty)
        #expect(rect(.fill, in: .zero).isEmpty)
    }

    @Test func aThinPictureIsAtLeastAPixelThick() {
        let thin = rect(.fit, of: CGSize(width: 10_000, height: 1))
        #expect(thin.size == CGSize(width: 100, height: 1))
    }
}

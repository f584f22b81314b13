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
        let odd = rect(.center, scaleFactor: scaleFactor, of: CGSize(width: 39, height: 20))
        #expect(odd == CGRect(x: x, y: 40, width: 39, height: 20))
    }

    @Test func whatHasNoExtentIsNowhere() {
        #expect(rect(.fit, of: .zero).isEmpty && rect(.fill, in: .zero).isEmpty)
    }

    @Test func aThinPictureIsAtLeastAPixelThick() {
        let thin = rect(.fit, of: CGSize(width: 10_000, height: 1))
        #expect(thin.size == CGSize(width: 100, height: 1))
    }
}

@MainActor @Suite struct UnusualLengthTests {
    nonisolated private static let lengths: [CGFloat] = [
        .nan, .infinity, -.infinity, -1, 0, .leastNonzeroMagnitude, 1e300, -1e300, 50,
    ]

    @Test(arguments: lengths)
    func capsOfAnyLengthLeaveSegmentsInsideThePlace(start: CGFloat) {
        for end in Self.lengths {
            for length in Self.lengths {
                for target in Self.lengths {
                    let segments = Snapshot.segments(
                        of: length, in: target, caps: (start: start, end: end))
                    #expect(
                        segments.allSatisfy {
                            $0.source.upperBound <= length && $0.target.upperBound <= target
                        })
                }
            }
        }
    }

    @Test(arguments: lengths)
    func aPlaceOfAnySizeIsComputed(length: CGFloat) {
        for mode in [PicturePlacement.Mode.fit, .fill, .center, .stretch] {
            for other in Self.lengths {
                let size = CGSize(width: length, height: other)
                let placement = PicturePlacement(mode: mode)
                _ = placement.rect(of: size, in: CGSize(width: 9, height: 9), scaleFactor: length)
                _ = placement.rect(of: CGSize(width: 9, height: 9), in: size, scaleFactor: other)
            }
        }
    }
}

import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
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

    @Test(arguments: lengths) func capsOfAnyLengthLeaveSegmentsInsideThePlace(start: CGFloat) {
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

    @Test(arguments: lengths) func aPlaceOfAnySizeIsComputed(length: CGFloat) {
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

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct TextureTests {
    @Test func viewsOfOneImageShareATexture() throws {
        let shared = image(.quadrants(width: 6, height: 4))
        let views = [ImageView(image: shared), ImageView(image: shared.withScale(2))]
        let pictures = try views.map { try #require($0.picture) }
        #expect(pictures[0].texture == pictures[1].texture)
        #expect(pictures[0].texture.size == PixelSize(width: 6, height: 4))
        #expect(pictures[0].size == CGSize(width: 6, height: 4))
        #expect(pictures[1].size == CGSize(width: 3, height: 2))
        let other = ImageView(image: image(.quadrants(width: 6, height: 4)))
        #expect(other.picture?.texture != pictures[0].texture)
    }

    @Test func aTextureGoesWithItsLastUser() throws {
        let pixels = bitmap(.quadrants(width: 6, height: 4))
        weak var memory: AnyObject?
        let identity = pixels.identity
        do {
            let view = ImageView(image: Image(bitmap: pixels))
            memory = view.picture?.texture
            #expect(Textures.shared.has(identity))
        }
        #expect(memory == nil && !Textures.shared.has(identity))
    }

    @Test func aTextureKeepsItsPixels() async throws {
        let view = ImageView(image: image(.solid(.blue, width: 6, height: 4)))
        view.contentMode = .stretch
        let texture = try #require(view.picture?.texture)
        view.image = nil
        #expect(texture.size == PixelSize(width: 6, height: 4))
        #expect(Bitmap(downloading: texture.pointer, size: texture.size)?.pixel(3, 2) == .blue)
    }

    /// Depth and alpha of the PNG formats that decode to each layout.
    @Test(arguments: [
        (PNGFixture.Format.rgb8, Bitmap.Depth.eight, false),
        (.rgba8, .eight, true), (.rgb16, .sixteen, false), (.rgba16, .sixteen, true),
    ])
    func everyLayoutIsDrawn(format: PNGFixture.Format, depth: Bitmap.Depth, hasAlpha: Bool) throws {
        let color = Pixel(200, 100, 50, hasAlpha ? 128 : 255)
        let grid = PixelGrid.solid(color, width: 5, height: 3)
        let decoded = try #require(Image(data: PNGFixture.data(grid, as: format))).bitmap()
        #expect(decoded.depth == depth && decoded.hasAlpha == hasAlpha)
        let texture = Texture(decoded)
        let drawn = try #require(Bitmap(downloading: texture.pointer, size: texture.size))
        let pixel = drawn.pixel(4, 2)
        #expect(abs(Int(pixel.red) - 200) <= 1 && abs(Int(pixel.green) - 100) <= 1)
        #expect(abs(Int(pixel.blue) - 50) <= 1 && pixel.alpha == color.alpha)
    }
}

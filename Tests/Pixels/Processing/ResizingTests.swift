import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct ResizingTests {
    @Test(arguments: PixelKind.all)
    func keepsAFlatColor(_ kind: PixelKind) throws {
        // From many pixels and from one.
        for (side, width, height) in [
            (16, 3, 2), (16, 1, 1), (16, 40, 7), (16, 16, 16), (1, 3, 2),
        ] {
            let color = SIMD4<Double>(1, 0.4, 0, kind.hasAlpha ? 0.6 : 1)
            let flat = Picture(width: side, height: side) { _, _ in color }
            let size = CGSize(width: width, height: height)
            let result = try Picture(kind.image(flat).kf.resize(to: size))
            let expected = Picture(width: width, height: height) { _, _ in color }
            #expect(result.difference(to: expected) <= kind.step * 1.01)
        }
    }

    @Test func weighsColorsByTheirOpacity() throws {
        // Red beside a fully transparent green: no green may show in between.
        let halves = Picture(width: 64, height: 8) { x, _ in
            x < 32 ? SIMD4(1, 0, 0, 1) : SIMD4(0, 1, 0, 0)
        }
        let result = try Picture(halves.image().kf.resize(to: CGSize(width: 9, height: 8)))
        for pixel in result.pixels where pixel.w > 0.05 {
            #expect(pixel.x > 0.98 && pixel.y < 0.02)
        }
    }

    @Test func reducesAGradientToItself() throws {
        let gradient = Picture(width: 256, height: 4) { x, _ in
            SIMD4(Double(x) / 255, 0.5, 1 - Double(x) / 255, 1)
        }
        let result = try Picture(
            gradient.image(hasAlpha: false).kf.resize(to: CGSize(width: 32, height: 4)))
        for x in 2..<30 {
            // The middle of eight columns.
            let expected = (Double(x) * 8 + 3.5) / 255
            #expect(abs(result[x, 1].x - expected) <= 1.5 / 255)
        }
    }

    /// Upstream: testImageResizing
    @Test(arguments: [(ContentMode.none, 30, 60), (.aspectFit, 30, 20), (.aspectFill, 90, 60)])
    func bringsImagesToTheReferenceSize(_ mode: ContentMode, _ width: Int, _ height: Int) throws {
        let image = Picture.noise(width: 120, height: 80).image()
        let processor = ResizingImageProcessor(
            referenceSize: CGSize(width: 30, height: 60), mode: mode)
        for scale in [1, 2, 3] {
            let result = try processor.applied(to: image, scale: CGFloat(scale))
            // The proportions are 3:2 at every scale, and so are the points.
            #expect(result.size == CGSize(width: width, height: height))
            #expect(result.pixelSize == PixelSize(width: width * scale, height: height * scale))
            #expect(try result.bitmap().size == result.pixelSize)
        }
    }

    /// Upstream: testImageScaling
    @Test func returnsTheImageItselfAtItsOwnSize() {
        let image = Picture.noise(width: 12, height: 8).image(scale: 2)
        #expect(image.kf.resize(to: CGSize(width: 6, height: 4)) === image)
        #expect(image.kf.crop(to: CGSize(width: 9, height: 4), anchorOn: .zero) === image)
        #expect(image.kf.scaled(to: 2) === image)
        #expect(image.kf.scaled(to: 1).size == CGSize(width: 12, height: 8))
    }
}

@Suite struct CroppingTests {
    /// Upstream: testImageCropping
    @Test(arguments: PixelKind.all)
    func copiesTheRectangle(_ kind: PixelKind) throws {
        let picture = kind.noise(width: 13, height: 9)
        let image = kind.image(picture)
        for (anchor, left, top) in [
            (CGPoint(x: 0, y: 0), 0, 0), (CGPoint(x: 1, y: 1), 8, 5),
            (CGPoint(x: 0.5, y: 0.5), 4, 2),
            (CGPoint(x: -1, y: 3), 0, 5),
        ] {
            let result = try Picture(
                image.kf.crop(to: CGSize(width: 5, height: 4), anchorOn: anchor))
            let expected = Picture(width: 5, height: 4) { picture[$0 + left, $1 + top] }
            #expect(result.difference(to: expected) <= kind.step / 2)
        }
    }

    @Test func givesExactlyTheSizeThatFits() throws {
        let image = Picture.noise(width: 64, height: 64).image()
        #expect(image.kf.crop(to: CGSize(width: 20, height: 20), anchorOn: .zero).size.width == 20)
        let odd = Picture.noise(width: 101, height: 1).image()
        let half = CGPoint(x: 0.5, y: 0.5)
        #expect(
            odd.kf.crop(to: CGSize(width: 50, height: 5), anchorOn: half).pixelSize
                == PixelSize(width: 50, height: 1))
    }

    @Test func leavesOnePixelAtLeast() throws {
        let image = Picture.noise(width: 3, height: 3).image()
        let empty = image.kf.crop(to: CGSize(width: 0, height: -4), anchorOn: .zero)
        #expect(try empty.bitmap().size == PixelSize(width: 1, height: 1))
    }
}

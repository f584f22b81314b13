import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct DownsamplingTests {
    private let image = Picture.noise(width: 64, height: 64).image()

    /// Upstream: testDownsampling, testDownsamplingSizes
    @Test func reducesTheLongerSideOfBytesAndOfImages() throws {
        let processor = DownsamplingImageProcessor(size: CGSize(width: 20, height: 40))
        let data = try #require(image.kf.pngRepresentation())
        for item in [ImageProcessItem.data(data), .image(image)] {
            let result = try #require(processor.process(item: item, options: .scale(1)))
            #expect(result.size == CGSize(width: 40, height: 40))
            #expect(try result.bitmap().size == PixelSize(width: 40, height: 40))
        }
    }

    /// Upstream: testDownsamplingWithScale
    @Test(arguments: [1, 2, 3])
    func keepsThePointsAtAnyScale(_ scale: Int) throws {
        let processor = DownsamplingImageProcessor(size: CGSize(width: 15, height: 15))
        let result = try processor.applied(to: image, scale: CGFloat(scale))
        #expect(result.size == CGSize(width: 15, height: 15))
        #expect(result.pixelSize == PixelSize(width: 15 * scale, height: 15 * scale))
    }

    @Test func keepsTheProportions() {
        let wide = Picture.noise(width: 300, height: 7).image()
        for (width, height, expected) in [(100, 10, 2), (10, 1, 1)] {
            let result = wide.kf.downsampled(toPixels: PixelSize(width: width, height: height))
            #expect(result.pixelSize == PixelSize(width: width, height: expected))
        }
    }

    /// Upstream: testDownsamplingWithEdgeCaseSize
    @Test func neverEnlargesAndTakesNoSizeAsTheFullOne() {
        for size in [CGSize.zero, CGSize(width: 65, height: 1), CGSize(width: 64, height: 64)] {
            let processor = DownsamplingImageProcessor(size: size)
            #expect(processor.process(item: .image(image), options: .scale(1)) === image)
        }
    }

    @Test func asksTheDecoderForNoMoreThanItNeeds() {
        let small = Recipe(frames: [Picture.noise(width: 8, height: 8).bitmap()])
        let first = ImageOperation.resizing(to: PixelSize(width: 100, height: 60))
        let photograph = PixelSize(width: 4000, height: 3000)
        #expect(first.reduction(of: photograph)?.size == PixelSize(width: 100, height: 60))
        // A side that grows needs all there is.
        #expect(first.reduction(of: PixelSize(width: 4000, height: 60))?.size == nil)
        #expect(first.reduction(of: small.size)?.size == nil)
    }

    @Test func decodesDataAtTheTargetSize() throws {
        let decoder = SpyDecoder(full: Picture.noise(width: 64, height: 48, hasAlpha: false))
        let encoded = try EncodedImage(
            Data([0xff, 0xd8, 0xff, 0xe0] + Array(repeating: 0, count: 60)),
            decoder: decoder.decoder)
        let original = Image(content: PixelContent(Recipe(encoded: encoded)))
        let result = original.kf.downsampled(toPixels: PixelSize(width: 16, height: 16))
        let round = result.kf.image(withRoundRadius: 4, fit: result.size)
        #expect(decoder.requests == [])
        #expect(try round.bitmap().size == PixelSize(width: 16, height: 12))
        #expect(decoder.requests == [PixelSize(width: 16, height: 12)])
        // The full-size pixels were not needed for it.
        #expect(!original.isRendered)
    }

    @Test func reducesAPhotographFromItsBytes() throws {
        func color(_ x: Double, _ y: Double) -> SIMD4<Double> { SIMD4(x, y, 0.5, 1) }
        let photograph = Picture(width: 640, height: 400) { x, y in
            color((Double(x) + 0.5) / 640, (Double(y) + 0.5) / 400)
        }
        let data = try #require(photograph.image(hasAlpha: false).kf.data(format: .JPEG))
        let processor = DownsamplingImageProcessor(size: CGSize(width: 32, height: 10))
        for scale: CGFloat in [1, 2] {
            let image = try #require(processor.process(item: .data(data), options: .scale(scale)))
            #expect(image.size == CGSize(width: 32, height: 20))
            let expected = Picture(width: 32 * Int(scale), height: 20 * Int(scale)) { x, y in
                color((Double(x) + 0.5) / (32 * scale), (Double(y) + 0.5) / (20 * scale))
            }
            #expect(try Picture(image).difference(to: expected) < 0.04)
            let direct = try #require(
                KingfisherWrapper<KFCrossPlatformImage>.downsampledImage(
                    data: data, to: CGSize(width: 32, height: 10), scale: scale))
            #expect(try direct.bitmap().data == image.bitmap().data)
        }
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct TransparencyPreservingCacheSerializerTests {
    private let serializer = TransparencyPreservingCacheSerializer()

    /// A picture of which a corner is half transparent.
    private var sticker: Image {
        Picture(width: 32, height: 32) { x, y in
            SIMD4(0.2, Double(x) / 31, Double(y) / 31, x < 8 && y < 8 ? 128.0 / 255 : 1)
        }.image()
    }

    private func photo(hasAlpha: Bool = false, depth: Bitmap.Depth = .eight) -> Image {
        Picture.noise(width: 64, height: 64, hasAlpha: false).image(
            hasAlpha: hasAlpha, depth: depth)
    }

    @Test func whatIsTransparentBecomesPNGWithTheSamePixels() throws {
        let data = try #require(serializer.data(with: sticker, original: nil))
        #expect(data.kf.imageFormat == .PNG)
        let back = try #require(serializer.image(with: data, options: .scale(1)))
        #expect(try Picture(back).difference(to: Picture(sticker)) == 0)
    }

    @Test func aPhotographBecomesJPEGOfTheQuality() throws {
        #expect(serializer.compressionQuality == 0.8)
        let data = try #require(serializer.data(with: photo(), original: nil))
        #expect(data == photo().kf.jpegRepresentation(compressionQuality: 0.8))
        let smaller = TransparencyPreservingCacheSerializer(compressionQuality: 0.3)
            .data(with: photo(), original: nil)
        #expect(try #require(smaller).count < data.count)
    }

    @Test(arguments: [Bitmap.Depth.eight, .sixteen])
    func anOpaqueAlphaChannelIsNoTransparency(depth: Bitmap.Depth) {
        let image = photo(hasAlpha: true, depth: depth)
        #expect(image.hasAlpha)
        for serializer in [serializer, lossless] {
            #expect(serializer.data(with: image, original: nil)?.kf.imageFormat == .JPEG)
        }
    }

    @Test func onePixelThatIsNotOpaqueIsTransparency() {
        var picture = Picture.noise(width: 40, height: 30, hasAlpha: false)
        picture.pixels[picture.pixels.count - 1].w = 254.0 / 255
        let data = serializer.data(with: picture.image(), original: nil)
        #expect(data?.kf.imageFormat == .PNG)
    }

    @Test func aQualityForWhatIsTransparentGivesWebPWithExactAlpha() throws {
        let lossy = TransparencyPreservingCacheSerializer(transparentQuality: 0.5)
        let data = try #require(lossy.data(with: sticker, original: nil))
        #expect(data.kf.imageFormat == .WebP)
        let back = try Picture(try #require(lossy.image(with: data, options: .scale(1))))
        #expect(back.pixels.map(\.w) == (try Picture(sticker)).pixels.map(\.w))
    }

    private let lossless = TransparencyPreservingCacheSerializer(prefersSmallerLossless: true)

    @Test func theSmallerOfTheLosslessFormatsIsStoredWhenAsked() throws {
        let plain = try #require(serializer.data(with: sticker, original: nil))
        let data = try #require(lossless.data(with: sticker, original: nil))
        #expect(plain.kf.imageFormat == .PNG && data.kf.imageFormat == .WebP)
        #expect(data.count < plain.count)
        let back = try #require(lossless.image(with: data, options: .scale(1)))
        #expect(try back.bitmap().data == sticker.bitmap().data)
    }

    @Test func whatWebPCannotHoldIsStoredAsPNG() throws {
        let half = SIMD4(0.2, 0.4, 0.6, 0.5)
        let deep = Picture(width: 16, height: 16) { _, _ in half }.image(depth: .sixteen)
        let wide = Picture(width: 16384, height: 1) { _, _ in half }.image()
        for image in [deep, wide] {
            let data = try #require(lossless.data(with: image, original: nil))
            #expect(data.kf.imageFormat == .PNG)
            let back = try #require(lossless.image(with: data, options: .scale(1)))
            #expect(try back.bitmap().data == image.bitmap().data)
        }
    }

    @Test func fewerBytesOfAnUnprocessedOriginalAreKept() throws {
        let flat = PNGFixture.data(.solid(.red, width: 4, height: 4), as: .palette8)
        let image = try #require(Image(data: flat))
        #expect(serializer.data(with: image, original: flat) == flat)

        let large = PNGFixture.data(.noise(width: 64, height: 64), as: .rgb8)
        let loaded = try #require(Image(data: large))
        let data = try #require(serializer.data(with: loaded, original: large))
        #expect(data.kf.imageFormat == .JPEG)
        #expect(data.count < large.count)
    }

    @Test func aProcessedImageIsNeverStoredAsItsOriginal() throws {
        let flat = PNGFixture.data(.solid(.red, width: 4, height: 4), as: .palette8)
        let image = try #require(Image(data: flat)).kf.resize(to: CGSize(width: 2, height: 2))
        let data = try #require(serializer.data(with: image, original: flat))
        #expect(data != flat)
        #expect(try #require(Image(data: data)).pixelSize == PixelSize(width: 2, height: 2))
    }
}

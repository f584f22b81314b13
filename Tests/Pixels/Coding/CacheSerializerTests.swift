import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct CacheSerializerTests {
    private let options = KingfisherParsedOptionsInfo(nil)
    private let gif = GIFFixture.data(
        [.red, .green].map { GIFFixture.Frame(.solid($0, width: 20, height: 20)) }, loopCount: 0)

    @Test func storesTheFormatOfTheOriginal() throws {
        let image = Image(bitmap: try .gradient(32, 24))
        let serializer = DefaultCacheSerializer()
        for format in ImageFormat.writable {
            let original = try encoded(.gradient(32, 24), as: format)
            let data = try #require(serializer.data(with: image, original: original))
            #expect(data.kf.imageFormat == format)
            let back = try #require(serializer.image(with: data, options: options))
            #expect(back.pixelSize == image.pixelSize)
        }
    }

    @Test func storesPNGWhenTheFormatIsUnknownOrNotWritten() throws {
        let image = Image(bitmap: try .gradient(32, 24))
        let serializer = DefaultCacheSerializer()
        let bmp = BMPFixture.data(.quadrants(width: 4, height: 4))
        for original in [nil, Data("no image at all".utf8), bmp] {
            #expect(serializer.data(with: image, original: original)?.kf.imageFormat == .PNG)
        }
    }

    /// Upstream: testCanUseCustomizeDefaultCacheSerializer
    @Test func reencodesTheOriginalUnlessToldToKeepIt() throws {
        let original = try encoded(.gradient(64, 64), as: .JPEG, quality: 1)
        let image = try Image.decoding(original)
        var serializer = DefaultCacheSerializer()
        serializer.compressionQuality = 0.2
        #expect(!serializer.originalDataUsed)
        let small = try #require(serializer.data(with: image, original: original))
        #expect(small.count < original.count && small.kf.imageFormat == .JPEG)
        serializer.preferCacheOriginalData = true
        #expect(serializer.originalDataUsed)
        #expect(serializer.data(with: image, original: original) == original)
    }

    @Test func keepsTheBytesOfAnUnprocessedAnimation() throws {
        let image = try Image.decoding(gif)
        var serializer = DefaultCacheSerializer()
        #expect(serializer.data(with: image, original: gif) == gif)
        #expect(serializer.data(with: image, original: nil) == gif)
        serializer.preferCacheOriginalData = true
        #expect(serializer.data(with: image, original: nil) == gif)
        #expect(serializer.data(with: Image(bitmap: try image.bitmap()), original: nil) == nil)
    }

    @Test func storesTheIndicatedFormat() throws {
        let image = Image(bitmap: try .gradient(32, 24))
        let original = try encoded(.gradient(32, 24), as: .TIFF)
        for (serializer, format) in [
            (FormatIndicatedCacheSerializer.png, ImageFormat.PNG), (.jpeg, .JPEG), (.gif, .GIF),
            (.jpeg(compressionQuality: 0.5), .JPEG), (.webp, .WebP), (.avif, .AVIF),
        ] where ImageFormat.writable.contains(format) {
            #expect(serializer.data(with: image, original: original)?.kf.imageFormat == format)
            #expect(!serializer.originalDataUsed)
        }
    }

    @Test func usesTheQualityOfTheIndicatedFormat() throws {
        let image = Image(bitmap: try .gradient(64, 64))
        let coarse = FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.1)
        let fine = FormatIndicatedCacheSerializer.jpeg
        let sizes = [coarse, fine].compactMap { $0.data(with: image, original: nil)?.count }
        #expect(sizes.count == 2 && sizes[0] < sizes[1])
    }

    @Test func fallsBackToTheOriginalsFormat() throws {
        // AVIF cannot be this small.
        let image = Image(bitmap: try .gradient(8, 8))
        let serializer = FormatIndicatedCacheSerializer.avif
        let tiff = try encoded(.gradient(8, 8), as: .TIFF)
        #expect(serializer.data(with: image, original: tiff)?.kf.imageFormat == .TIFF)
        // Nothing but the bytes themselves is left when the original is AVIF.
        let avif = Data([0, 0, 0, 16]) + Data("ftypavif\0\0\0\0".utf8)
        #expect(serializer.data(with: image, original: avif) == avif)
        #expect(serializer.data(with: image, original: nil)?.kf.imageFormat == .PNG)
    }

    @Test func readsNothingFromJunk() {
        let junk = Data("no image at all".utf8)
        #expect(DefaultCacheSerializer.default.image(with: junk, options: options) == nil)
        #expect(FormatIndicatedCacheSerializer.png.image(with: junk, options: options) == nil)
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct ImageRepresentationTests {
    private typealias KF = KingfisherWrapper<KFCrossPlatformImage>

    private let gif = GIFFixture.data(
        (0..<8).map { index in
            GIFFixture.Frame(.solid(Pixel(gray: UInt8(index * 30)), width: 10, height: 10))
        }, loopCount: 0)

    @Test func makesImagesOfFiles() throws {
        let jpeg = try encoded(.gradient(64, 64), as: .JPEG)
        let image = try #require(KF.image(data: jpeg, options: ImageCreatingOptions(scale: 2)))
        #expect(image.scale == 2 && image.size == CGSize(width: 32, height: 32))
    }

    @Test(arguments: [false, true]) func makesAnimationsOfGIF(preloadAll: Bool) throws {
        let options = ImageCreatingOptions(preloadAll: preloadAll)
        let image = try #require(KF.animatedImage(data: gif, options: options))
        #expect(image.kf.imageFrameCount == 8)
        #expect(abs((image.animation?.totalDuration ?? 0) - 0.8) < 1e-9)
        #expect(image.kf.gifRepresentation() == gif)
    }

    @Test func stretchesAPreloadedAnimation() throws {
        let options = ImageCreatingOptions(duration: 4, preloadAll: true)
        let image = try #require(KF.image(data: gif, options: options))
        #expect(abs((image.animation?.totalDuration ?? 0) - 4) < 1e-9)
    }

    @Test func keepsTheBytesWhenOnlyTheFirstFrameIsUsed() throws {
        let options = ImageCreatingOptions(onlyFirstFrame: true)
        let image = try #require(KF.animatedImage(data: gif, options: options))
        #expect(image.animation == nil && image.kf.imageFrameCount == 8)
        #expect(image.kf.gifRepresentation() == gif)
    }

    @Test func writesPNGForAnUnknownFormat() throws {
        let image = Image(bitmap: try .gradient(12, 8, channels: 4))
        let data = try #require(image.kf.data(format: .unknown))
        #expect(data.kf.imageFormat == .PNG)
        #expect(try decoded(data).greatestDifference(from: image.bitmap()) == 0)
        #expect(image.kf.pngRepresentation()?.kf.imageFormat == .PNG)
        #expect(image.kf.jpegRepresentation(compressionQuality: 0.5)?.kf.imageFormat == .JPEG)
        #expect(image.kf.gifRepresentation()?.kf.imageFormat == .GIF)
    }

    @Test func writesTheFirstFrameInStillFormats() throws {
        let image = try Image.decoding(gif)
        let png = try #require(image.kf.pngRepresentation())
        #expect(try Image.decoding(png).animation == nil)
        #expect(try decoded(png).samples(3, 3).prefix(3) == [0, 0, 0])
    }

    @Test func turnsGIFIntoAnimatedWebP() throws {
        let data = try Image.decoding(gif).kf.data(format: .WebP, options: ImageEncodingOptions())
        let back = try Image.decoding(data)
        #expect(back.animation == (try Image.decoding(gif)).animation)
        #expect(back.kf.data(format: .WebP) == data)
    }

    @Test func tellsWhyAnImageCannotBeWritten() throws {
        let image = Image(bitmap: try .gradient(12, 8))
        #expect(image.kf.data(format: .SVG) == nil)
        let error = ImageCodingError.unsupported(.SVG, reason: "no encoder for it is installed")
        #expect(throws: error) { try image.kf.data(format: .SVG, options: ImageEncodingOptions()) }
    }

    @Test func writesNothingOfDamagedPixels() throws {
        let jpeg = try encoded(.gradient(64, 64), as: .JPEG)
        let image = try #require(Image(data: jpeg.prefix(jpeg.count / 2)))
        #expect(image.kf.pngRepresentation() == nil)
    }
}

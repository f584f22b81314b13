import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct ImageRepresentationTests {
    private typealias KF = KingfisherWrapper<KFCrossPlatformImage>

    @Test func writesPNGForAnUnknownFormat() throws {
        let image = Image(bitmap: try .gradient(12, 8, channels: 4))
        let data = try #require(image.kf.data(format: .unknown))
        #expect(data.kf.imageFormat == .PNG)
        #expect(try decoded(data).greatestDifference(from: image.bitmap()) == 0)
        #expect(image.kf.pngRepresentation()?.kf.imageFormat == .PNG)
        #expect(image.kf.jpegRepresentation(compressionQuality: 0.5)?.kf.imageFormat == .JPEG)
        #expect(image.kf.gifRepresentation()?.kf.imageFormat == .GIF)
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

    /// Upstream: testGenerateJPEGImage
    @Test func aJPEGIsAStillImageWithItsPixels() throws {
        let picture = try Bitmap.gradient(64, 64)
        let image = try #require(
            KF.image(data: encoded(picture, as: .JPEG), options: ImageCreatingOptions(scale: 2)))
        #expect(image.scale == 2 && image.size == CGSize(width: 32, height: 32))
        #expect(image.kf.imageFrameCount == nil)
        #expect(try image.bitmap().greatestDifference(from: picture) <= 6)
        #expect(try image.bitmap().meanDifference(from: picture) < 1)
    }

    /// Upstream: testGenerateFromNonImage
    @Test func otherBytesAreNoImage() {
        for data in [Data("hello".utf8), Data(), Data([0xFF, 0xD8, 0xFF])] {
            #expect(KF.image(data: data, options: ImageCreatingOptions()) == nil)
        }
    }

    /// Upstream: testNormalized
    @Test func anImageTurnedByItsFileIsUpright() throws {
        let turned = EXIFFixture.turned(try encoded(.gradient(100, 200), as: .JPEG), 6)
        let image = try #require(KF.image(data: turned, options: ImageCreatingOptions()))
        let upright = image.kf.normalized
        #expect(upright.size == CGSize(width: 200, height: 100))
        #expect(try upright.bitmap().size == PixelSize(width: 200, height: 100))
        let animated = try #require(Image(data: Grays.gif(3)))
        #expect(animated.kf.normalized === animated)
    }

    /// Upstream: testAnyImageModifier
    @Test func aModifierMadeOfAClosureDeliversWhatItReturns() {
        let square = testImage(width: 64, height: 64)
        #expect(AnyImageModifier { $0 }.modify(square) === square)
        let other = testImage()
        #expect(AnyImageModifier { _ in other }.modify(square) === other)
        #expect(AnyImageModifier { _ in throw CancellationError() }.modify(square) === square)
    }
}

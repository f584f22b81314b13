import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Making and changing single images.
@Suite struct ImageUpstreamTests {
    private typealias Wrapper = KingfisherWrapper<KFCrossPlatformImage>
    private let square: Image

    init() throws {
        square = Image(bitmap: try .gradient(64, 64, channels: 4))
    }

    /// Upstream: testImageFormat
    @Test func formatsAreKnownByTheirFirstBytes() throws {
        #expect(try encoded(.gradient(8, 8), as: .JPEG).kf.imageFormat == .JPEG)
        #expect(PNGFixture.solid(.red, width: 1, height: 1).kf.imageFormat == .PNG)
        #expect(Grays.gif(2).kf.imageFormat == .GIF)
        #expect(Data([1, 2, 3, 4, 5, 6, 7, 8]).kf.imageFormat == .unknown)
    }

    /// Upstream: testGenerateJPEGImage
    @Test func aJPEGIsAStillImageWithItsPixels() throws {
        let picture = try Bitmap.gradient(64, 64)
        let image = try #require(
            Wrapper.image(
                data: encoded(picture, as: .JPEG), options: ImageCreatingOptions()))
        #expect(image.kf.imageFrameCount == nil)
        #expect(try image.bitmap().greatestDifference(from: picture) <= 6)
        #expect(try image.bitmap().meanDifference(from: picture) < 1)
    }

    /// Upstream: testGenerateFromNonImage
    @Test func otherBytesAreNoImage() {
        for data in [Data("hello".utf8), Data(), Data([0xFF, 0xD8, 0xFF])] {
            #expect(Wrapper.image(data: data, options: ImageCreatingOptions()) == nil)
        }
    }

    /// Upstream: testNormalized
    @Test func anImageTurnedByItsFileIsUpright() throws {
        let turned = EXIFFixture.inserted(
            EXIFFixture.block(orientation: 6),
            into: try encoded(.gradient(100, 200), as: .JPEG))
        let image = try #require(Wrapper.image(data: turned, options: ImageCreatingOptions()))
        let upright = image.kf.normalized
        #expect(upright.size == CGSize(width: 200, height: 100))
        #expect(try upright.bitmap().size == PixelSize(width: 200, height: 100))
        let animated = try #require(Image(data: Grays.gif(3)))
        #expect(animated.kf.normalized === animated)
    }

    /// Upstream: testImageResizing
    @Test func resizingGivesTheSize() throws {
        let result = square.kf.resize(to: CGSize(width: 20, height: 20))
        #expect(result.size == CGSize(width: 20, height: 20))
        #expect(try result.bitmap().size == PixelSize(width: 20, height: 20))
    }

    /// Upstream: testImageCropping
    @Test func croppingGivesTheSizeAndTheVeryPixels() throws {
        let result = square.kf.crop(
            to: CGSize(width: 20, height: 20), anchorOn: CGPoint(x: 0, y: 0))
        #expect(result.size == CGSize(width: 20, height: 20))
        let (part, whole) = (try result.bitmap(), try square.bitmap())
        #expect(part.samples(0, 0) == whole.samples(0, 0))
        #expect(part.samples(19, 19) == whole.samples(19, 19))
    }

    /// Upstream: testImageScaling
    @Test func scalingByTwoHalvesThePoints() throws {
        let result = square.kf.scaled(to: 2)
        #expect(result.scale == 2)
        #expect(result.size == CGSize(width: 32, height: 32))
        #expect(result.pixelSize == square.pixelSize)
    }

    /// Upstream: testDownsamplingSizes
    @Test func downsamplingKeepsProportionsFromBytesAndFromImages() throws {
        let processor = DownsamplingImageProcessor(size: CGSize(width: 20, height: 40))
        let data = try #require(square.kf.pngRepresentation())
        for item in [ImageProcessItem.data(data), .image(square)] {
            let result = try #require(
                processor.process(item: item, options: KingfisherParsedOptionsInfo(nil)))
            #expect(result.size == CGSize(width: 40, height: 40))
            #expect(try result.bitmap().size == PixelSize(width: 40, height: 40))
        }
    }

    /// Upstream: testAnyImageModifier
    @Test func aModifierMadeOfAClosureDeliversWhatItReturns() {
        #expect(AnyImageModifier { $0 }.modify(square) === square)
        let other = testImage()
        #expect(AnyImageModifier { _ in other }.modify(square) === other)
        #expect(AnyImageModifier { _ in throw Refusal() }.modify(square) === square)
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Making and changing single images.
@Suite struct ImageUpstreamTests {
    private typealias Wrapper = KingfisherWrapper<KFCrossPlatformImage>
    private let square = testImage(width: 64, height: 64)

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
            Wrapper.image(data: encoded(picture, as: .JPEG), options: ImageCreatingOptions()))
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

    /// Upstream: testAnyImageModifier
    @Test func aModifierMadeOfAClosureDeliversWhatItReturns() {
        #expect(AnyImageModifier { $0 }.modify(square) === square)
        let other = testImage()
        #expect(AnyImageModifier { _ in other }.modify(square) === other)
        #expect(AnyImageModifier { _ in throw CancellationError() }.modify(square) === square)
    }
}

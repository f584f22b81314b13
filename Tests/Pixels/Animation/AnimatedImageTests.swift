import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct AnimatedImageTests {
    private func image(
        _ data: Data, _ options: ImageCreatingOptions = ImageCreatingOptions()
    ) throws -> Image {
        try #require(KingfisherWrapper<Image>.animatedImage(data: data, options: options))
    }

    private func webp(_ count: Int) throws -> Data {
        try Grays.image(count).kf.data(format: .WebP, options: ImageEncodingOptions(quality: 1))
    }

    /// Upstream: testGenerateGIFImage
    @Test(arguments: [false, true], [ImageFormat.GIF, .WebP])
    func hasTheFramesAndTheDurationOfItsFile(preloading: Bool, format: ImageFormat) throws {
        let data = try format == .GIF ? Grays.gif(8) : webp(8)
        let image = try image(data, ImageCreatingOptions(preloadAll: preloading))
        #expect(image.kf.imageFrameCount == 8 && image.frameCount == 8)
        #expect(abs(image.duration - 0.8) < 1e-9)
        #expect(preloading || image.kf.frameSource?.frameCount == 8)
    }

    /// Upstream: testGenerateSingleFrameGIFImage
    @Test(arguments: [false, true])
    func lastsForeverWithASingleFrame(preloading: Bool) throws {
        let image = try image(Grays.gif(1), ImageCreatingOptions(preloadAll: preloading))
        #expect(image.kf.imageFrameCount == 1 && image.duration == .infinity)
        #expect(image.kf.frameSource?.frameCount == 1)
        #expect(image.kf.frameSource?.duration(at: 0) == .infinity)
    }

    /// Upstream: testScaleForGIFImage
    @Test(arguments: [false, true])
    func respectsTheScale(preloading: Bool) throws {
        let options = ImageCreatingOptions(scale: 2, preloadAll: preloading)
        let image = try image(Grays.gif(3), options)
        #expect(image.scale == 2 && image.size == CGSize(width: 4, height: 3))
        #expect(image.frameCount == 3)
    }

    /// Upstream: testGIFRepresentation
    @Test(arguments: [
        ImageCreatingOptions(), ImageCreatingOptions(preloadAll: true),
        ImageCreatingOptions(onlyFirstFrame: true),
    ])
    func keepsTheBytes(options: ImageCreatingOptions) throws {
        let data = Grays.gif(4)
        let image = try image(data, options)
        #expect(image.kf.gifRepresentation() == data && image.kf.imageFrameCount == 4)
    }

    /// Upstream: testPreloadAllAnimationData
    @Test func hasAllFramesInMemoryAfterPreloading() throws {
        let image = try image(Grays.gif(4), ImageCreatingOptions(duration: 2, preloadAll: true))
        #expect(image.content.isFullyResident && image.kf.frameSource == nil)
        #expect(try image.allBitmaps().map(\.grayIndex) == [0, 1, 2, 3])
        #expect(abs(image.duration - 2) < 1e-9, "the duration that is asked for")
    }

    /// Upstream: testLoadOnlyFirstFrame
    @Test func isStillWithTheFirstFrameOnly() throws {
        let image = try image(Grays.gif(4), ImageCreatingOptions(onlyFirstFrame: true))
        #expect(image.animation == nil && image.frameCount == 1 && image.kf.frameSource == nil)
        #expect(image.grayIndex == 0)
    }

    @Test func deliversFramesOneByOneWithoutPreloading() throws {
        let image = try image(Grays.gif(4))
        let source = try #require(image.kf.frameSource)
        #expect(source.data == image.kf.gifRepresentation())
        #expect((0..<4).map { source.frame(at: $0)?.grayIndex } == [0, 1, 2, 3])
        #expect(source.duration(at: 2) == 0.1)
        #expect(source.frame(at: 4) == nil)
        #expect(source.frame(at: -1) == nil)
        #expect(!image.content.isFullyResident)
    }

    @Test func appliesStepsToEachFrameDelivered() throws {
        let image = try image(Grays.gif(3)).kf.resize(to: CGSize(width: 4, height: 3))
        let source = try #require(image.kf.frameSource)
        let frames = try (0..<3).map { try #require(source.frame(at: $0)) }
        #expect(frames.map(\.grayIndex) == [0, 1, 2])
        #expect(frames.allSatisfy { $0.size == PixelSize(width: 4, height: 3) })
    }

    /// Upstream: testCostForStaticImage
    @Test func costsThePixelsOfAStillImage() throws {
        let image = Image(bitmap: try Grays.bitmap(0))
        #expect(image.cacheCost == 8 * 6 * 3)
    }

    /// Upstream: testCostForAnimatedImageWithUniqueFrames,
    /// testCostForAnimatedImageWithDuplicateFrames, testCostForAnimatedImageWithAllIdenticalFrames
    @Test(arguments: [[0, 1, 2, 3], [0, 1, 0, 1], [0, 0, 0, 0]])
    func costsFramesThatShareTheirPixelsOnce(shades: [Int]) throws {
        let bitmaps = try (0..<4).map { try Grays.bitmap($0) }
        let timing = AnimationTiming(durations: [0.1, 0.1, 0.1, 0.1], loopCount: 0)
        let image = try #require(Image(frames: shades.map { bitmaps[$0] }, timing: timing))
        #expect(image.cacheCost == Set(shades).count * 8 * 6 * 3)
    }

    /// Upstream: testCostForSingleFrameGIF
    @Test func costsTheFramesInMemoryAndTheBytesOfAFile() throws {
        let data = Grays.gif(4)
        let perFrame = try image(data).content.bytesPerFrame
        #expect(try image(data).cacheCost == perFrame + data.count)
        let preloaded = try image(data, ImageCreatingOptions(preloadAll: true))
        #expect(preloaded.cacheCost == 4 * perFrame + data.count)
        let single = Grays.gif(1)
        #expect(try image(single).cacheCost == perFrame + single.count)
    }

    @Test func copiesWhatItWasMadeOfToAnotherImage() throws {
        let animated = try image(Grays.gif(3), ImageCreatingOptions(scale: 2))
        let target = Image(bitmap: try Grays.bitmap(9), scale: 3)
        let copy = animated.kf.copyKingfisherState(to: target)
        #expect(copy.kf.imageFrameCount == 3)
        #expect(copy.kf.gifRepresentation() == animated.kf.gifRepresentation())
        #expect(copy.creatingOptions == animated.creatingOptions && copy.scale == 3)
        #expect(copy.grayIndex == 9)
        let source = try #require(copy.kf.frameSource)
        #expect((0..<3).map { source.frame(at: $0)?.grayIndex } == [0, 1, 2])
        #expect(target.kf.imageFrameCount == nil)
    }
}

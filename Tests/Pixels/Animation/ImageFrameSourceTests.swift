import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct ImageFrameSourceTests {
    private typealias Wrapper = KingfisherWrapper<Image>

    @Test func makesAnAnimationWhoseFramesAreAskedForLater() throws {
        let spy = SpyFrameSource(5)
        let image = try #require(
            Wrapper.animatedImage(source: spy, options: ImageCreatingOptions(scale: 2)))
        #expect(spy.requests == [0])
        #expect(image.frameCount == 5 && image.kf.imageFrameCount == 5 && image.scale == 2)
        #expect(abs(image.duration - 0.5) < 1e-9)
        let source = try #require(image.kf.frameSource)
        #expect(source.frame(at: 3)?.grayIndex == 3)
        #expect(try image.bitmap(frame: 4).grayIndex == 4)
        #expect(spy.requests == [0, 3, 4])
    }

    @Test func takesTheFirstFrameFromTheBaseImage() throws {
        let spy = SpyFrameSource(5)
        let base = Image(bitmap: try Grays.bitmap(7))
        let image = try #require(
            Wrapper.animatedImage(source: spy, options: ImageCreatingOptions(), baseImage: base))
        #expect(spy.requests.isEmpty)
        #expect(image.grayIndex == 7 && image.frameCount == 5)
    }

    @Test func preloadsEachFrameOnce() throws {
        let spy = SpyFrameSource(4)
        let options = ImageCreatingOptions(duration: 2, preloadAll: true)
        let image = try #require(Wrapper.animatedImage(source: spy, options: options))
        #expect(spy.requests == [0, 1, 2, 3])
        #expect(try image.allBitmaps().map(\.grayIndex) == [0, 1, 2, 3])
        #expect(abs(image.duration - 2) < 1e-9)
        #expect(image.kf.frameSource == nil)
    }

    @Test func takesTheFirstFrameOnly() throws {
        let data = Grays.gif(4)
        let spy = SpyFrameSource(4, data: data)
        let options = ImageCreatingOptions(onlyFirstFrame: true)
        let image = try #require(Wrapper.animatedImage(source: spy, options: options))
        #expect(spy.requests == [0])
        #expect(image.animation == nil && image.kf.imageFrameCount == 4)
        #expect(image.kf.gifRepresentation() == data)
    }

    @Test func isNoImageWithoutAFirstFrame() {
        let options = ImageCreatingOptions()
        #expect(Wrapper.animatedImage(source: SpyFrameSource(0), options: options) == nil)
        let damaged = SpyFrameSource(3, damaged: [0])
        #expect(Wrapper.animatedImage(source: damaged, options: options) == nil)
        let late = SpyFrameSource(3, damaged: [2])
        #expect(
            Wrapper.animatedImage(source: late, options: ImageCreatingOptions(preloadAll: true))
                == nil)
    }

    @Test func makesFramesSmallerButNeverLarger() throws {
        let data = Grays.gif(3, width: 40, height: 20)
        let source = try #require(Image(data: data)?.kf.frameSource)
        let small = try #require(source.frame(at: 1, maxSize: CGSize(width: 10, height: 10)))
        #expect(small.size == PixelSize(width: 10, height: 5) && small.grayIndex == 1)
        let large = try #require(source.frame(at: 1, maxSize: CGSize(width: 99, height: 99)))
        #expect(large.size == PixelSize(width: 40, height: 20))
        let zero = try #require(source.frame(at: 1, maxSize: .zero))
        #expect(zero.size == PixelSize(width: 40, height: 20))
    }

    @Test func leavesOutFramesThatDoNotLookLikeTheFirst() throws {
        let first = try Bitmap.drawn(8, 6, channels: 4) { _, _ in [1, 2, 3, 4] }
        let source = UniformFrameSource(SpyFrameSource(2), like: first)
        #expect(source.frame(at: 1) == nil)
        let uniform = UniformFrameSource(SpyFrameSource(2), like: try Grays.bitmap(0))
        #expect(uniform.copy().frame(at: 1)?.grayIndex == 1)
        let other = UniformFrameSource(SpyFrameSource(2), like: try Grays.bitmap(0, width: 9))
        #expect(other.frame(at: 1) == nil)
    }

    /// cgif drops frames that look like the one before.
    @Test func writesEqualFramesOfAGIFWithTheirOwnTimes() throws {
        let shades = [0, 0, 9, 9, 9, 0]
        let frames = try shades.map { try Grays.bitmap($0) }
        let durations = [0.1, 0.25, 0.02, 0.3, 0.07, 400]
        let image = try #require(
            Image(frames: frames, timing: AnimationTiming(durations: durations, loopCount: 3)))
        let written = try #require(Image(data: image.kf.data(format: .GIF, options: .init())))
        #expect(written.animation == AnimationTiming(durations: durations, loopCount: 3))
        // The palette may take the neighbour of a gray.
        for (bitmap, shade) in zip(try written.allBitmaps(), shades) {
            #expect(abs(Int(bitmap.samples(0, 0)[0]) - Int(Grays.level(shade))) <= 5)
        }
    }

    @Test func writesAnAnimationOfForeignFrames() throws {
        let image = try #require(
            Wrapper.animatedImage(source: SpyFrameSource(3), options: ImageCreatingOptions()))
        let written = try #require(Image(data: image.kf.data(format: .GIF, options: .init())))
        // The palette may take the neighbour of a gray.
        let levels = try written.allBitmaps().map { Int($0.samples(0, 0)[0]) }
        try #require(levels.count == 3)
        for (index, level) in levels.enumerated() {
            #expect(abs(level - Int(Grays.level(index))) <= 5)
        }
    }
}

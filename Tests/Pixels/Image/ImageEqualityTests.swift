import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

@Suite struct ImageEqualityTests {
    private let grid = PixelGrid.gradient(width: 40, height: 30)

    private func image(_ data: Data, scale: CGFloat = 1) throws -> Image {
        try #require(Image(data: data, scale: scale))
    }

    @Test func imagesOfOneFileAreEqualWithoutBeingDecoded() throws {
        let data = PNGFixture.data(grid)
        let (one, other) = (try image(data), try image(Data(Array(data))))
        #expect(one == other)
        #expect(!one.isRendered && !other.isRendered)
        #expect(one.hashValue == other.hashValue)
    }

    @Test func imagesOfEqualPixelsAreEqualWhateverTheyWereMadeOf() throws {
        var grid = grid
        grid[3, 2] = Pixel(10, 200, 30, 128)
        let bitmap = try grid.bitmap(channels: 4)
        let ofFile = try image(PNGFixture.data(grid))
        #expect(ofFile == Image(bitmap: bitmap))
        #expect(ofFile.hashValue == Image(bitmap: bitmap).hashValue)
        let ofWebP = try image(encoded(bitmap, as: .WebP, isLossless: true))
        #expect(ofWebP == ofFile)
        #expect(Set([ofFile, ofWebP, Image(bitmap: bitmap)]).count == 1)
    }

    @Test func onePixelSizeScaleDepthAlphaAndAStepOfProcessingMakeADifference() throws {
        let image = try image(PNGFixture.data(grid))
        var other = grid
        other[39, 29] = .red
        #expect(try image != self.image(PNGFixture.data(other)))
        #expect(image != image.kf.scaled(to: 2) && image.kf.scaled(to: 2) == image.kf.scaled(to: 2))
        #expect(try image != self.image(PNGFixture.data(grid, as: .rgb8)))
        #expect(try image != self.image(PNGFixture.data(grid, as: .rgba16)))
        #expect(image != image.kf.crop(to: CGSize(width: 39, height: 30), anchorOn: .zero))
        #expect(image != image.kf.overlaying(with: .red, fraction: 0.5))
        #expect(
            image.kf.overlaying(with: .red, fraction: 0.5)
                == image.kf.overlaying(with: .red, fraction: 0.5))
    }

    private func gif(last: Pixel, delay: Int = 10) -> Data {
        GIFFixture.data(
            [.red, .blue, last].map { .init(.solid($0, width: 8, height: 8), delay: delay) },
            loopCount: 0)
    }

    @Test func allFramesOfAnAnimationAndTheirTimesCount() throws {
        let one = try image(gif(last: .green))
        #expect(try one == image(gif(last: .green)))
        #expect(try one != image(gif(last: .white)))
        #expect(try one != image(gif(last: .green, delay: 20)))
        let preloaded = try Image.decoding(
            gif(last: .green), options: ImageCreatingOptions(preloadAll: true))
        #expect(one == preloaded && one.hashValue == preloaded.hashValue)
        let first = try Image.decoding(
            gif(last: .green), options: ImageCreatingOptions(onlyFirstFrame: true))
        #expect(one != first)
    }

    @Test func hashingAnAnimationDecodesItsFirstFrameOnly() throws {
        let animation = try image(gif(last: .green))
        _ = animation.hashValue
        #expect(animation.content.residentFrameCount == 1 && !animation.content.isFullyResident)
    }

    @Test func damagedImagesAreEqualToThoseOfTheirFileOnly() throws {
        let data = PNGFixture.data(grid)
        let damaged = data.prefix(data.count / 2)
        let one = try image(Data(damaged))
        #expect(one == one)
        #expect(try one == image(Data(damaged)))
        #expect(try one.hashValue == image(Data(damaged)).hashValue)
        #expect(try one != image(data))
    }

    // MARK: kf.decoded

    @Test func decodedImagesAreRenderedAtTheScaleAskedFor() throws {
        let image = try image(PNGFixture.data(grid))
        #expect(image.kf.decoded === image && image.isRendered)
        #expect(image.kf.decoded(scale: 2).size == CGSize(width: 20, height: 15))
        #expect(image.kf.decoded(scale: 2).isRendered)
    }

    @Test func whatCannotBeDecodedComesBackAsItIs() throws {
        let data = PNGFixture.data(grid)
        let damaged = try image(Data(data.prefix(data.count / 2)))
        #expect(damaged.kf.decoded === damaged)
        let canvas = try grid.bitmap(channels: 4)
        #expect(damaged.kf.decoded(on: canvas) === damaged)
    }

    @Test func decodingOnACanvasDrawsInItsLowerLeftCorner() throws {
        let canvas = try Bitmap.drawn(6, 5, channels: 4) { _, _ in [0, 0, 255, 255] }
        let red = Image(
            bitmap: try Bitmap.drawn(2, 3, channels: 3) { _, _ in [255, 0, 0] }, scale: 2)
        let drawn = red.kf.decoded(on: canvas)
        #expect(drawn.scale == 2 && drawn.pixelSize == PixelSize(width: 6, height: 5))
        let pixels = try drawn.bitmap()
        #expect(pixels.channels == 4 && pixels.depth == .eight)
        for y in 0..<5 {
            for x in 0..<6 {
                let expected: [UInt8] = x < 2 && y >= 2 ? [255, 0, 0, 255] : [0, 0, 255, 255]
                #expect(pixels.samples(x, y) == expected, "at \(x), \(y)")
            }
        }
    }

    @Test func whatDoesNotFitOnTheCanvasIsCutOff() throws {
        let canvas = try Bitmap.drawn(3, 2) { _, _ in [0, 0, 0] }
        let drawn = Image(bitmap: try grid.bitmap(channels: 4)).kf.decoded(on: canvas)
        let pixels = try drawn.bitmap()
        #expect(pixels.size == PixelSize(width: 3, height: 2) && pixels.channels == 3)
        let whole = try grid.bitmap(channels: 3)
        for y in 0..<2 {
            for x in 0..<3 { #expect(pixels.samples(x, y) == whole.samples(x, y + 28)) }
        }
    }

    @Test func animationsComeBackAsTheyAre() throws {
        let animation = try image(gif(last: .green))
        #expect(animation.kf.decoded(on: try grid.bitmap(channels: 4)) === animation)
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

struct AnimationDecodingTests {
    private static let colours: [Pixel] = [.red, .green, .blue]

    private func gif(delays: [Int] = [10, 5, 0], loopCount: Int? = 0) -> Data {
        GIFFixture.data(
            zip(Self.colours, delays).map { colour, delay in
                GIFFixture.Frame(.solid(colour, width: 6, height: 4), delay: delay)
            }, loopCount: loopCount)
    }

    @Test func readsFramesAndTheirTimes() throws {
        let image = try Image.decoding(gif())
        #expect(image.pixelSize == PixelSize(width: 6, height: 4))
        #expect(image.frameCount == 3)
        #expect(image.animation?.durations == [0.1, 0.05, 0.1])
        for (index, colour) in Self.colours.enumerated() {
            let expected = [colour.red, colour.green, colour.blue]
            #expect(try Array(image.bitmap(frame: index).samples(2, 2).prefix(3)) == expected)
            #expect(try Array(image.allBitmaps()[index].samples(5, 3).prefix(3)) == expected)
        }
    }

    /// The stored number counts repetitions; players show the animation once more.
    @Test(arguments: [(nil, 1), (0, 0), (1, 2), (10, 11)] as [(Int?, Int)])
    func countsRunsOfGIF(_ stored: Int?, _ runs: Int) throws {
        #expect(try Image.decoding(gif(loopCount: stored)).animation?.loopCount == runs)
    }

    @Test func putsPartialFramesOntoTheCanvas() throws {
        let data = GIFFixture.data([
            GIFFixture.Frame(.solid(.red, width: 6, height: 4), disposal: .keep),
            GIFFixture.Frame(.solid(.blue, width: 2, height: 2), left: 3, top: 1),
        ])
        let frames = try Image.decoding(data).allBitmaps()
        #expect(frames[1].samples(0, 0).prefix(3) == [255, 0, 0])
        #expect(frames[1].samples(3, 1).prefix(3) == [0, 0, 255])
        #expect(frames[1].samples(5, 3).prefix(3) == [255, 0, 0])
    }

    @Test func keepsTransparencyOfFrames() throws {
        let grid = PixelGrid(width: 4, height: 4) { x, _ in x < 2 ? .clear : .green }
        let image = try Image.decoding(GIFFixture.data(grid))
        #expect(image.hasAlpha)
        #expect(try image.bitmap().samples(0, 0)[3] == 0)
        #expect(try image.bitmap().samples(3, 3) == [0, 255, 0, 255])
    }

    @Test func isStillWithOneFrame() throws {
        let image = try Image.decoding(GIFFixture.data(.solid(.red, width: 3, height: 3)))
        #expect(image.animation == nil)
        #expect(image.kf.imageFrameCount == 1)
    }

    @Test(arguments: [ImageFormat.GIF, .WebP])
    func survivesWritingAndReading(_ format: ImageFormat) throws {
        let frames = try Self.colours.map {
            try PixelGrid.solid($0, width: 24, height: 20).bitmap(channels: 4)
        }
        for runs in [0, 1, 2, 7] {
            let timing = AnimationTiming(durations: [0.1, 0.25, 0.04], loopCount: runs)
            let image = try #require(Image(frames: frames, timing: timing))
            let data = try image.kf.data(format: format, options: ImageEncodingOptions())
            let back = try Image.decoding(data)
            #expect(back.animation == timing)
            let found = try back.allBitmaps()
            #expect(found.count == 3)
            for (a, b) in zip(frames, found) {
                for (p, q) in zip(a.samples(9, 9), b.samples(9, 9)) {
                    #expect(abs(Int(p) - Int(q)) < 12)
                }
            }
        }
    }

    @Test func countsEveryFrameForTheLimit() throws {
        let limits = DecodingLimits(maximumPixelCount: 6 * 4 * 3 - 1)
        let image = try Image.decoding(gif(), options: ImageCreatingOptions(limits: limits))
        #expect(try image.bitmap().size == PixelSize(width: 6, height: 4))
        #expect(throws: ImageCodingError.self) { try image.allBitmaps() }
    }

    @Test func reportsAFrameWithTooFewPixels() throws {
        var data = gif()
        // The second frame claims to be one row higher than its pixels are.
        let starts = data.indices.filter {
            data[$0] == 0x2C && data[$0 + 1..<$0 + 5] == Data(count: 4)
        }
        let canvasHeight = data.startIndex + 8
        data[canvasHeight] = 5
        data[starts[1] + 7] = 5
        let image = try Image.decoding(data)
        #expect(try image.bitmap().size.height == 5)
        #expect(
            throws: ImageCodingError.corrupt(.GIF, reason: "the pixels of frame 1 are damaged")
        ) { try image.allBitmaps() }
    }
}

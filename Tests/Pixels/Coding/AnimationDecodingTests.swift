import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct AnimationDecodingTests {
    private static let colours: [Pixel] = [.red, .green, .blue]

    private func gif(_ count: Int = 3, delays: [Int] = [10, 5, 0], loopCount: Int? = 0) -> Data {
        GIFFixture.data(
            zip(Self.colours, delays).prefix(count).map { colour, delay in
                GIFFixture.Frame(.solid(colour, width: 6, height: 4), delay: delay)
            }, loopCount: loopCount)
    }

    private func expectColours(
        _ image: Image, count: Int = 3, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let found = try (0..<image.frameCount).map { try image.bitmap(frame: $0).rgb(2, 2) }
        #expect(found == Self.colours.prefix(count).map(\.rgb), sourceLocation: sourceLocation)
    }

    @Test func readsFramesAndTheirTimes() throws {
        let image = try Image.decoding(gif())
        #expect(image.pixelSize == PixelSize(6, 4))
        #expect(image.animation?.durations == [0.1, 0.05, 0.1])
        try expectColours(image)
        #expect(try image.allBitmaps().map { $0.rgb(5, 3) } == Self.colours.map(\.rgb))
    }

    /// The stored number counts repetitions; players show the animation once more.
    @Test(arguments: [(nil, 1), (0, 0), (1, 2), (10, 11)] as [(Int?, Int)])
    func countsRunsOfGIF(_ stored: Int?, _ runs: Int) throws {
        #expect(try Image.decoding(gif(loopCount: stored)).animation?.loopCount == runs)
    }

    @Test(arguments: [ImageFormat.GIF, .WebP, .PNG], [0, 1, 2, 7])
    func survivesWritingAndReading(_ format: ImageFormat, _ runs: Int) throws {
        let frames = try Self.colours.map {
            try PixelGrid.solid($0, width: 24, height: 20).bitmap(channels: 4)
        }
        let timing = AnimationTiming(durations: [0.1, 0.25, 0.04], loopCount: runs)
        let image = try #require(Image(frames: frames, timing: timing))
        let data = try image.kf.data(format: format, options: ImageEncodingOptions())
        let back = try Image.decoding(data)
        #expect(back.animation == timing)
        let found = try back.allBitmaps()
        #expect(found.count == 3)
        for (a, b) in zip(frames, found) {
            let pairs = zip(a.samples(9, 9), b.samples(9, 9))
            #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) < 12 })
        }
    }

    /// libvips takes some sizes for made up, and shows no more than the frames cover.
    @Test(arguments: [(640, 480), (800, 600), (3000, 20), (33, 21)])
    func keepsTheSizeOfTheCanvas(_ width: Int, _ height: Int) throws {
        let frame = GIFFixture.Frame(.solid(.green, width: 8, height: 6), left: 5, top: 4)
        let image = try Image.decoding(GIFFixture.data([frame], canvas: (width, height)))
        #expect(image.pixelSize == PixelSize(width, height) && image.hasAlpha)
        let bitmap = try image.bitmap()
        #expect(bitmap.size == image.pixelSize)
        for (x, y) in [(5, 4), (12, 9)] { #expect(bitmap.samples(x, y) == [0, 255, 0, 255]) }
        for (x, y) in [(13, 9), (width - 1, height - 1)] { #expect(bitmap.samples(x, y)[3] == 0) }
    }

    /// Other readers of GIF end there, too. Of an animation, it would be a part that is taken for the whole.
    @Test func endsAtWhatIsNoGIFBehindItsOnlyFrame() throws {
        func data(_ count: Int) -> Data { gif(count).dropLast() + Data("GIF89a and more".utf8) }
        let image = try Image.decoding(data(1))
        #expect(image.frameCount == 1)
        try expectColours(image, count: 1)
        let damage = ImageCodingError.corrupt(.GIF, reason: "its blocks do not reach the trailer")
        #expect(throws: damage) { try Image.decoding(data(2)) }
    }

    /// Some programs leave it out, and other readers do not miss it.
    @Test(arguments: 1...3, [true, false])
    func needsNoTrailer(_ count: Int, _ isDirect: Bool) throws {
        let whole = gif(count, loopCount: 2)
        for file in [whole.dropLast(), whole.dropLast() + Data([0, 0])].map({ Data($0) }) {
            let image = try Image.decoding(
                file, options: isDirect ? ImageCreatingOptions() : .byVips)
            #expect(image.frameCount == count)
            try expectColours(image, count: count)
            let information = try ImageInformation(of: file)
            #expect(information.isComplete && information.frameCount == count)
        }
        // The beginning of a longer file looks the same.
        #expect(try ImageInformation(ofPrefix: whole.dropLast())?.isComplete == false)
    }

    /// As in browsers: a frame that is cut off or missing, or an extension that is cut off.
    @Test(arguments: [true, false])
    func showsTheFramesBeforeACut(_ isDirect: Bool) throws {
        let whole = gif(loopCount: 2)
        let tails: [[UInt8]] = [
            [0x21], [0x21, 0xF9, 4, 0, 0, 0, 0, 0], [0x21, 0xFE, 9, 65, 66], [0x2C, 0, 0, 0],
            [0, 0, 0x21, 0xF9, 4], [0x21, 0xFE, 2, 65, 66, 0, 0x21, 0xF9], [0x3B, 1, 2, 3],
        ]
        var files = tails.map { (data: whole.dropLast() + Data($0), count: 3) }
        files += [3, whole.count / 4].map { (data: Data(whole.dropLast($0)), count: 2) }
        for (file, count) in files {
            let image = try Image.decoding(
                file, options: isDirect ? ImageCreatingOptions() : .byVips)
            #expect(image.frameCount == count)
            try expectColours(image, count: count)
            #expect(try image.allBitmaps().count == count)
            let information = try ImageInformation(of: file)
            #expect(information.frameCount == count && information.animation?.loopCount == 3)
            #expect(!isDirect || information.animation == image.animation)
        }
        let damage = ImageCodingError.corrupt(.GIF, reason: "its blocks do not reach the trailer")
        #expect(throws: damage) { try Image.decoding(Data(gif(1).dropLast(3))) }
        #expect(try ImageInformation(ofPrefix: whole.dropLast(3))?.frameCount == nil)
    }

    /// Some programs write more zeros than end a chain of sub-blocks.
    @Test(arguments: [1, 5], [true, false])
    func passesOverZerosBetweenBlocks(_ zeros: Int, _ isDirect: Bool) throws {
        let whole = gif(loopCount: 2)
        // Before each extension, and before the trailer.
        var file = Data()
        for (place, byte) in whole.enumerated() {
            if byte == 0x21, [0xF9, 0xFF].contains(whole[place + 1]) { file += Data(count: zeros) }
            file.append(byte)
        }
        file = file.dropLast() + Data(count: zeros) + Data([0x3B])
        let image = try Image.decoding(file, options: isDirect ? ImageCreatingOptions() : .byVips)
        #expect(image.frameCount == 3)
        try expectColours(image)
        let information = try ImageInformation(of: file)
        #expect(information.frameCount == 3 && information.animation?.loopCount == 3)
    }

    /// Frames that leave a part of the canvas free, none of which is transparent itself.
    @Test func marksTheOpacityOfWrittenAnimations() throws {
        let frames = try (0..<3).map { index in
            try PixelGrid(width: 40, height: 30) { x, _ in
                x / 10 == index ? Pixel(200, 30, 40) : .clear
            }.bitmap(channels: 4)
        }
        let timing = AnimationTiming(durations: [0.1, 0.1, 0.1], loopCount: 0)
        let image = try #require(Image(frames: frames, timing: timing))
        let data = try image.kf.data(format: .WebP, options: ImageEncodingOptions())
        #expect(data[12..<16].elementsEqual("VP8X".utf8))
        #expect(data[20] & 0x10 == 0x10)
        #expect(try Image.decoding(data).allBitmaps()[1].samples(35, 5)[3] == 0)
    }

    /// The quarters of a frame in the order in which an orientation shows them.
    @Test(arguments: [3, 6, 8])
    func turnsEveryFrameOfAWebP(_ orientation: Int) throws {
        let quarters = PixelGrid.quadrants(width: 24, height: 16)
        let frames = try [quarters, .solid(.black, width: 24, height: 16), quarters].map {
            try $0.bitmap(channels: 4)
        }
        let timing = AnimationTiming(durations: [0.1, 0.2, 0.3], loopCount: 0)
        let image = try #require(Image(frames: frames, timing: timing))
        let exif = ImageMetadata(exif: EXIFFixture.block(orientation: 1, prefix: false))
        var data = try image.kf.data(
            format: .WebP, options: ImageEncodingOptions(isLossless: true, metadata: exif))
        let tag = try #require(data.firstRange(of: Data([0x12, 0x01, 3, 0, 1, 0, 0, 0, 1, 0])))
        data[tag.upperBound - 2] = UInt8(orientation)

        let found = try Image.decoding(data)
        let size = PixelSize(24, 16)
        #expect(found.pixelSize == (orientation == 3 ? size : size.transposed))
        // Red, green over blue, white: upside down, to the right, to the left.
        let colours: [Int: [Pixel]] = [
            3: [.white, .blue, .green, .red], 6: [.blue, .red, .white, .green],
            8: [.green, .white, .red, .blue],
        ]
        for bitmap in try [found.bitmap(), found.allBitmaps()[2], found.bitmap(frame: 2)] {
            #expect(bitmap.size == found.pixelSize)
            #expect(bitmap.corners == colours[orientation]?.map(\.rgb))
        }
        let written = try found.kf.data(format: .GIF, options: ImageEncodingOptions())
        #expect(try Image.decoding(written).pixelSize == found.pixelSize)
        // libvips, when it is told to read such files.
        let other = try EncodedImage(data, decoder: .vips)
        #expect(other.header.size == found.pixelSize)
        #expect(try other.decodeAllFrames().map(\.size) == frames.map { _ in found.pixelSize })
    }

    @Test func countsEveryFrameForTheLimit() throws {
        let limits = DecodingLimits(maximumPixelCount: 6 * 4 * 3 - 1)
        let image = try Image.decoding(gif(), limits: limits)
        #expect(try image.bitmap().size == PixelSize(6, 4))
        #expect(throws: ImageCodingError.self) { try image.allBitmaps() }
    }

    @Test func reportsAFrameWithTooFewPixels() throws {
        var data = gif()
        // The second frame claims to be one row higher than its pixels are.
        let starts = data.indices.filter {
            data[$0] == 0x2C && data[$0 + 1..<$0 + 5] == Data(count: 4)
        }
        data[8] = 5
        data[starts[1] + 7] = 5
        let image = try Image.decoding(data)
        #expect(try image.bitmap().size.height == 5)
        let damage = ImageCodingError.corrupt(.GIF, reason: "the pixels of frame 1 are damaged")
        #expect(throws: damage) { try image.allBitmaps() }
    }
}

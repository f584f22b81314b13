import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Limits of memory, work and time. Files are small, and so are the limits.
struct DecodingLimitsTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let data: Data
        /// Bytes of the decoded pixels.
        let pixelBytes: Int
        /// Whether a smaller picture can be made without holding the whole.
        var isStreamed = false
        var testDescription: String { name }
    }

    private static let grid = PixelGrid.gradient(width: 400, height: 300)
    private static let count = 400 * 300
    private static let small = PixelSize(40, 30)

    static let samples: [Sample] = {
        let frames = (0..<3).map { _ in GIFFixture.Frame(.solid(.red, width: 400, height: 300)) }
        let samples = [
            Sample(
                name: "PNG of 16 bits", data: PNGFixture.data(grid, as: .rgba16),
                pixelBytes: 8 * count, isStreamed: true),
            Sample(name: "PNG", data: PNGFixture.data(grid, as: .rgb8), pixelBytes: 3 * count),
            Sample(
                name: "BMP", data: BMPFixture.data(grid), pixelBytes: 3 * count, isStreamed: true),
            Sample(name: "GIF", data: GIFFixture.data(frames), pixelBytes: 3 * count),
        ]
        let others: [(String, String, [String: VipsValue], Bool)] = [
            ("JPEG", "jpeg", [:], true), ("progressive JPEG", "jpeg", ["interlace": true], false),
            ("interlaced PNG", "png", ["interlace": true], false), ("WebP", "webp", [:], true),
            ("lossless WebP", "webp", ["lossless": true], false), ("TIFF", "tiff", [:], true),
            ("AVIF", "heif", ["compression": "av1", "effort": 0], false),
            ("JPEG XL", "jxl", ["effort": 1], false),
        ]
        let image = try? grid.bitmap(channels: 3).vipsImage()
        return samples
            + others.compactMap { name, saver, options, isStreamed in
                // A format that is not written here has no sample.
                (try? image?.encoded("\(saver)save_buffer", options)).map {
                    Sample(name: name, data: $0, pixelBytes: 3 * count, isStreamed: isStreamed)
                }
            }
    }()

    private static func image(_ data: Data, memory: Int?, duration: Duration? = nil) throws -> Image
    {
        try Image.decoding(
            data, limits: DecodingLimits(maximumMemory: memory, maximumDuration: duration))
    }

    /// Stopped at once.
    private static func hasty(_ data: Data) throws -> Image {
        try image(data, memory: nil, duration: .nanoseconds(1))
    }

    private static let tooSlow = ImageCodingError.tooSlow(limit: .nanoseconds(1))

    @Test func hasTheDocumentedDefaults() {
        #expect(DecodingLimits.default.maximumMemory == 536_870_912)
        #expect(DecodingLimits.default.maximumDuration == .seconds(30))
        #expect(DecodingLimits(maximumMemory: nil, maximumDuration: nil).maximumMemory == nil)
    }

    @Test(arguments: samples)
    func refusesWhatTakesMoreMemoryThanAllowed(_ sample: Sample) throws {
        let limit = sample.pixelBytes - 1
        let image = try Self.image(sample.data, memory: limit)
        let error = #expect(throws: ImageCodingError.self) { try image.bitmap() }
        let needed = try #require(error?.neededMemory)
        #expect(error == .tooMuchMemory(needed: needed, limit: limit))
        #expect(needed >= sample.pixelBytes)
        // What is needed suffices, and makes the same picture.
        let whole = try Self.image(sample.data, memory: needed).bitmap()
        #expect(try whole.data == Self.image(sample.data, memory: nil).bitmap().data)
    }

    @Test(arguments: samples.filter(\.isStreamed))
    func makesASmallPictureWithinALimitThatTheWholeExceeds(_ sample: Sample) throws {
        let (found, expected) = try (
            Self.image(sample.data, memory: sample.pixelBytes - 1),
            Self.image(sample.data, memory: nil)
        )
        let small = try found.kf.downsampled(toPixels: Self.small).bitmap()
        #expect(small.size == Self.small)
        #expect(try small.data == expected.kf.downsampled(toPixels: Self.small).bitmap().data)
    }

    @Test func countsAllFramesThatAreHeldAtOnce() throws {
        let data = Grays.gif(30, width: 100, height: 80)
        let frame = 100 * 80 * 3
        let image = try Self.image(data, memory: 30 * frame - 1)
        #expect(try image.bitmap(frame: 29).grayIndex == 29)
        let error = #expect(throws: ImageCodingError.self) { try image.allBitmaps() }
        let needed = try #require(error?.neededMemory)
        #expect(needed >= 30 * frame)
        #expect(try Self.image(data, memory: needed).allBitmaps().count == 30)
    }

    /// Codecs that decode a whole frame at once cannot be stopped within it.
    @Test(arguments: samples.filter { !["WebP", "lossless WebP"].contains($0.name) })
    func stopsDecodingThatTakesTooLong(_ sample: Sample) throws {
        let image = try Self.hasty(sample.data)
        #expect(throws: Self.tooSlow) { try image.bitmap() }
        // The next picture has its own time.
        _ = try Self.image(sample.data, memory: nil, duration: .seconds(600)).bitmap()
    }

    @Test(
        arguments: samples.filter {
            ["JPEG", "progressive JPEG", "AVIF", "JPEG XL"].contains($0.name)
        })
    func stopsReductionThatTakesTooLong(_ sample: Sample) throws {
        let image = try Self.hasty(sample.data).kf.downsampled(toPixels: Self.small)
        #expect(throws: Self.tooSlow) { try image.bitmap() }
    }

    /// While it is read, and while a step takes its time.
    @Test(arguments: ["BMP", "TIFF"]) func stopsInTheMiddleOfAPicture(format: String) throws {
        let grid = PixelGrid.gradient(width: 3000, height: 2000)
        let data =
            try format == "BMP"
            ? BMPFixture.data(grid)
            : grid.bitmap(channels: 3).vipsImage().encoded(
                "tiffsave_buffer", ["compression": "deflate"])
        // Long enough to begin, and too short for 6 million pixels anywhere.
        let limit = Duration.milliseconds(1)
        let image = try Self.image(data, memory: nil, duration: limit)
        let slow = format == "BMP" ? image : image.kf.blurred(withRadius: 100)
        #expect(throws: ImageCodingError.tooSlow(limit: limit)) { try slow.bitmap() }
    }

    @Test func readsNoMoreFramesThanItTells() throws {
        let frames = (0..<4097).map {
            GIFFixture.Frame(.solid(Pixel(gray: UInt8($0 % 256)), width: 1, height: 1))
        }
        #expect(throws: ImageCodingError.tooManyFrames(4097, limit: 4096)) {
            try Image.decoding(GIFFixture.data(frames))
        }
        let image = try Image.decoding(GIFFixture.data(Array(frames.dropLast())))
        #expect(image.frameCount == 4096)
    }

    @Test func refusesProgressiveFilesWithTooManyScansOverTooManyPixels() throws {
        let fixture = try ProgressiveFixture()
        var data = fixture.data
        let frame = try #require(data.firstRange(of: [0xFF, 0xC2] as [UInt8])).lowerBound
        // 12000 × 12000 pixels.
        data.replaceSubrange(frame + 5..<frame + 9, with: [0x2E, 0xE0, 0x2E, 0xE0])
        #expect(JPEGFrame.scanCount(of: data) == 10)
        let scan = data[(fixture.scanEnds[8] - 2)..<(data.count - 2)]
        data.removeLast(2)
        for _ in 0..<85 { data += scan }
        data += [0xFF, 0xD9]
        let image = try Self.image(data, memory: nil)
        let words = "95 scans of 144000000 pixels would take too long to decode; "
        let error = ImageCodingError.tooComplex(.JPEG, reason: words + "the limit is 34 scans")
        #expect(throws: error) { try image.bitmap() }
    }

    @Test func showsNoScansBeyondTheMemoryAllowed() throws {
        func show(_ memory: Int) throws {
            let decoder = try ProgressiveJPEGDecoder(limits: DecodingLimits(maximumMemory: memory))
            try decoder.feed(ProgressiveFixture().data)
            try decoder.decode(upTo: 1)
        }
        try show(6_000_000)
        #expect(throws: ImageCodingError.self) { try show(60_000) }
    }

    @Test(arguments: 1...8)
    func turnsLargePicturesWhileTheyAreDecoded(_ orientation: Int) throws {
        let bitmap = try PixelGrid.noise(width: 45, height: 37).bitmap(channels: 3)
        let data = EXIFFixture.turned(try encoded(bitmap, as: .JPEG, quality: 0.9), orientation)
        let expected = try decoded(data)
        let turned = try data.withUnsafeBytes { bytes in
            let header = try #require(JPEGHeader(bytes))
            return try Bitmap(size: expected.size, channels: 3) { _, pixels in
                try JPEGReader.readTurned(bytes, header: header, into: pixels)
            }
        }
        #expect(turned.data == expected.data)
    }
}

/// Decoding that nobody waits for any longer.
struct DecodingStopTests {
    private static func data(_ format: ImageFormat) throws -> Data {
        let png = PNGFixture.data(.gradient(width: 300, height: 200), as: .rgb8)
        return try Image.decoding(png).encoded(as: format, options: ImageEncodingOptions())
    }

    /// The way of reduced JPEG files, which have a decoder of their own.
    @Test(arguments: [false, true])
    func reductionEndsAfterIt(isProgressive: Bool) throws {
        let grid = PixelGrid.gradient(width: 300, height: 200)
        let data = try grid.bitmap(channels: 3).vipsImage()
            .encoded("jpegsave_buffer", ["interlace": .bool(isProgressive)])
        func small() throws -> Bitmap { try decoded(data, at: PixelSize(60, 40)) }
        let stop = DecodingStop()
        _ = try stop.watching(small)
        stop.give()
        #expect(throws: ImageCodingError.self) { try stop.watching(small) }
        // Others on the same thread go on.
        let other = DecodingStop()
        _ = try (other.watching(small), small())
        #expect(stop.isGiven && !other.isGiven)
    }

    @Test(arguments: [ImageFormat.JPEG, .PNG, .GIF, .TIFF])
    func decodingThatIsUnderWayEnds(format: ImageFormat) async throws {
        let data = try Self.data(format)
        let stop = DecodingStop()
        let begun = Recorder<Void>()
        let ended = Recorder<Bool>()
        Thread.detachNewThread {
            let isStopped = stop.watching {
                for _ in 0..<1_000_000 {
                    do {
                        _ = try Image.decoding(data).bitmap()
                        begun.record(())
                    } catch {
                        return true
                    }
                }
                return false
            }
            ended.record(isStopped)
        }
        await begun.waitFor(count: 1)
        stop.give()
        #expect(await ended.waitFor(count: 1) == [true])
    }
}

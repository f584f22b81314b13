import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import DirectCodecs

struct WebPTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let bands: Int
        let isLossless: Bool
        var testDescription: String { "\(bands) bands, \(isLossless ? "lossless" : "lossy")" }

        var options: [String: VipsValue] {
            ["lossless": .bool(isLossless), "Q": 80, "strip": true]
        }
    }

    static let kinds = [3, 4].flatMap { bands in
        [false, true].map { Kind(bands: bands, isLossless: $0) }
    }

    private func pixels(_ data: Data, width: Int? = nil, height: Int? = nil) throws -> [UInt8] {
        try data.withUnsafeBytes { bytes in
            let file = try WebPFile(bytes)
            let (width, height) = (width ?? file.width, height ?? file.height)
            var pixels = [UInt8](repeating: 0, count: width * height * file.channels)
            try WebPReader(file, bytes).read(into: &pixels, width: width, height: height)
            return pixels
        }
    }

    private func file(
        _ pixels: [UInt8], _ width: Int, _ height: Int, _ channels: Int = 3,
        by writer: WebPWriter
    ) throws -> Data {
        Data(try writer.file(of: pixels, width: width, height: height, channels: channels))
    }

    @Test(arguments: kinds) func readsWhatLibvipsReads(_ kind: Kind) throws {
        for (width, height) in [(1, 1), (17, 5), (120, 80)] {
            let (image, _) = try PNGReaderTests.picture(
                width: width, height: height, bands: kind.bands)
            let data = try image.encoded("webpsave_buffer", kind.options)
            let read = try VipsImage.load("webpload_buffer", bytes: data)
            #expect(try data.withUnsafeBytes { try WebPFile($0).hasAlpha } == read.hasAlpha)
            #expect(try pixels(data) == read.samples())
        }
    }

    @Test(.enabled(if: Corpus.directory != nil)) func tellsOfRealFilesWhatLibvipsTells() throws {
        for file in Corpus.files(in: "animated") + Corpus.files(in: "formats")
        where file.pathExtension == "webp" {
            let data = try Data(contentsOf: file)
            let image = try VipsImage.load("webpload_buffer", bytes: data)
            let found = try data.withUnsafeBytes { try WebPFile($0) }
            #expect(found.width == image.width && found.height == image.pageHeight)
            #expect(found.hasAlpha == image.hasAlpha)
            #expect(found.durations.count == (image.pageCount > 1 ? image.pageCount : 0))
            #expect(found.profile.map { Data($0) } == image.blob("icc-profile-data"))
            if found.isAnimated {
                #expect(found.durations == image.ints("delay"))
                #expect(found.loopCount == image.int("loop"))
            }
        }
    }

    /// Against the exact Lanczos-3 of all pixels; a difference of 40 dB is not seen.
    @Test func reducesFinely() throws {
        let smooth = (0..<120 * 90).flatMap { place -> [UInt8] in
            let (x, y) = (Double(place % 120), Double(place / 120))
            let wave = 127 + 100 * sin(x / 7) * cos(y / 9)
            return [UInt8(wave), UInt8(255 - wave), UInt8(x * 2)]
        }
        let file = try file(smooth, 120, 90, by: WebPWriter(.lossy(level: 95)))
        let full = try pixels(file)
        for (width, height) in [(119, 89), (75, 54), (36, 27)] {
            let found = try pixels(file, width: width, height: height)
            let ratio = ExactLanczos.quality(found, width, height, of: full, 120)
            #expect(ratio > 40, "\(width)×\(height)")
        }
    }

    /// A picture that is too large for its planes to be kept.
    @Test func reducesLargeFilesToTheSameColours() throws {
        let colour: [UInt8] = [200, 90, 30]
        let flat = Array(repeatElement(colour, count: 2400 * 1700).joined())
        let file = try file(flat, 2400, 1700, by: WebPWriter(.lossy(level: 80), effort: 0))
        let small = try pixels(file, width: 240, height: 170)
        let worst = small.indices.map { abs(Int(small[$0]) - Int(colour[$0 % 3])) }.max() ?? 255
        #expect(worst <= 3)
    }

    @Test func letsNoColourOfTransparentPixelsThrough() throws {
        let pixels = (0..<64 * 64).flatMap { place -> [UInt8] in
            place % 8 < 4 ? [255, 0, 0, 0] : [0, 0, 255, 255]
        }
        let file = try file(pixels, 64, 64, 4, by: WebPWriter(.lossless))
        let reduced = try self.pixels(file, width: 16, height: 16)
        for pixel in stride(from: 0, to: reduced.count, by: 4) where reduced[pixel + 3] > 8 {
            #expect(reduced[pixel] < 8 && reduced[pixel + 2] > 247)
        }
    }

    @Test(arguments: kinds) func survivesAnyDamage(_ kind: Kind) throws {
        let (image, _) = try PNGReaderTests.picture(width: 40, height: 30, bands: kind.bands)
        let data = try image.encoded("webpsave_buffer", kind.options)
        for length in stride(from: 0, to: data.count, by: 3) {
            #expect(throws: CodecRefusal.self) { try pixels(data.prefix(length)) }
        }
        var noise = Noise(9)
        for _ in 0..<300 {
            var damaged = data
            damaged[Int.random(in: 0..<data.count, using: &noise)] =
                UInt8.random(in: 0...255, using: &noise)
            do {
                let file = try damaged.withUnsafeBytes { try WebPFile($0) }
                guard file.width * file.height < 1_000_000 else { continue }
                _ = try pixels(damaged)
            } catch is CodecRefusal {
                // As it should be.
            }
        }
    }

    // MARK: Animations

    private func animation(bands: Int) throws -> Data {
        let (image, _) = try PNGReaderTests.picture(width: 40, height: 90, bands: bands)
        return try image.settingMetadata([
            ("page-height", .int(30)), ("delay", .ints([50, 0, 70])), ("loop", .int(4)),
        ]).encoded("webpsave_buffer", ["Q": 90])
    }

    @Test(arguments: [3, 4]) func drawsTheFramesOfAnAnimation(_ bands: Int) throws {
        let data = try animation(bands: bands)
        let image = try VipsImage.load("webpload_buffer", bytes: data, ["n": -1])
        let expected = try image.samples()
        let owner = NSData(data: data)
        let bytes = UnsafeRawBufferPointer(start: owner.bytes, count: owner.length)
        let file = try WebPFile(bytes)
        #expect(file.durations == image.ints("delay") && file.loopCount == image.int("loop"))
        #expect(file.hasAlpha == image.hasAlpha)
        let size = 40 * 30 * file.channels
        var frame = [UInt8](repeating: 0, count: size)
        for skipped in 0..<3 {
            let animation = try WebPAnimation(bytes, owner: owner)
            for _ in 0..<skipped { try animation.skip() }
            try animation.next(into: &frame, channels: file.channels)
            // Both blend, with roundings of their own.
            let part = expected[skipped * size..<(skipped + 1) * size]
            #expect(zip(frame, part).allSatisfy { abs(Int($0) - Int($1)) <= 2 })
        }
        let ended = try WebPAnimation(bytes, owner: owner)
        for _ in 0..<3 { try ended.skip() }
        #expect(throws: CodecRefusal.self) { try ended.skip() }
    }

    @Test func leavesAnimationsOfOneFrameToOthers() throws {
        let data = try animation(bands: 3)
        #expect(throws: CodecRefusal.self) { try pixels(data) }
    }

    // MARK: Writing

    @Test(arguments: [3, 4], [1, 50, 80, 100])
    func writesWhatLibvipsWouldWrite(_ bands: Int, _ level: Int) throws {
        let (image, pixels) = try PNGReaderTests.picture(width: 160, height: 120, bands: bands)
        let file = try file(pixels, 160, 120, bands, by: WebPWriter(.lossy(level: level)))
        let other = try image.encoded(
            "webpsave_buffer", ["Q": .int(level), "alpha_q": 100, "effort": 4, "strip": true])
        #expect(try self.pixels(file) == self.pixels(other))
        // libvips adds a block of metadata.
        #expect(abs(file.count - other.count) <= 300)
    }

    @Test(arguments: [(16384, 1), (0, 1), (1, 16384)])
    func refusesSidesThatTheFormatCannotHold(_ width: Int, _ height: Int) {
        #expect(throws: CodecRefusal.unusual("its size")) {
            try file([1, 2, 3], width, height, by: WebPWriter(.lossless))
        }
    }
}

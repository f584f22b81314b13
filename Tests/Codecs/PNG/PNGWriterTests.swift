import CCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import DirectCodecs

struct PNGWriterTests {
    private func file(
        _ pixels: [UInt8], _ width: Int, _ height: Int, _ channels: Int
    ) throws -> Data {
        Data(
            try #require(
                PNGWriter().file(of: pixels, width: width, height: height, channels: channels)))
    }

    @Test(arguments: [3, 4])
    func writesWhatOthersRead(_ channels: Int) throws {
        for (width, height) in [(1, 1), (1, 40), (40, 1), (5, 7), (129, 66)] {
            let (_, pixels) = try PNGReaderTests.picture(
                width: width, height: height, bands: channels)
            let data = try file(pixels, width, height, channels)
            #expect(try PNGReaderTests.pixels(data) == pixels)
            let image = try VipsImage.load("pngload_buffer", bytes: data)
            let read = try image.rendered()
            #expect(read.withUnsafeBytes { Array($0) } == pixels)
            #expect(image.bands == channels)
        }
    }

    @Test func leavesOutOpacityOfOpaquePixels() throws {
        let width = 700
        var pixels = [UInt8](repeating: 255, count: width * 3 * 4)
        for place in 0..<width * 3 { pixels[4 * place + place % 3] = UInt8(place & 255) }
        let opaque = try file(pixels, width, 3, 4)
        let colours = (0..<width * 3).flatMap { pixels[4 * $0..<4 * $0 + 3] }
        #expect(try PNGReaderTests.pixels(opaque) == colours)
        pixels[pixels.count - 1] = 254
        #expect(try PNGReaderTests.pixels(file(pixels, width, 3, 4)) == pixels)
    }

    /// The usual rule: the least sum of the bytes taken as signed, the first of equals.
    @Test(arguments: [3, 4])
    func choosesTheFilterWithTheLeastSum(_ channels: Int) throws {
        let (width, height) = (61, 40)
        var (_, pixels) = try PNGReaderTests.picture(width: width, height: height, bands: channels)
        // Some rows of one colour, some like the one above.
        let row = width * channels
        for y in [7, 20, 21] {
            for x in 0..<row { pixels[y * row + x] = UInt8(100 + x % channels) }
        }
        let rowsWith = { (filter: UInt8) in
            PNGComposer(
                width: width, height: height, colourType: channels == 3 ? 2 : 6,
                samples: pixels, filter: { _ in filter }
            ).filteredRows
        }
        let candidates = (0..<5).map { rowsWith(UInt8($0)) }
        let data = try file(pixels, width, height, channels)
        let written = try data.withUnsafeBytes { bytes in
            try PNGReader(PNGFile(bytes), bytes).filters
        }
        for y in 0..<height {
            let sums = candidates.map { rows in
                rows[y * (row + 1) + 1..<(y + 1) * (row + 1)].reduce(0) {
                    $0 + min(Int($1), 256 - Int($1))
                }
            }
            let best = sums.indices.min { sums[$0] < sums[$1] }
            #expect(Int(written[y]) == best, "row \(y)")
        }
    }

    /// libpng, with zlib, and libdeflate are both to read what our own compressor writes.
    @Test(arguments: [3, 4])
    func compressesPhotographs(_ channels: Int) throws {
        let (width, height) = (240, 160)
        var noise = Noise(8)
        let pixels = (0..<width * height).flatMap { place -> [UInt8] in
            let slope = place % width / 2 + place / width / 3
            return (0..<channels).map {
                UInt8(slope + $0 * 9 + Int.random(in: 0..<8, using: &noise))
            }
        }
        let writer = PNGWriter()
        let data = try file(pixels, width, height, channels)
        var plain = writer
        plain.knowsPhotographs = false
        let other = try #require(
            plain.file(of: pixels, width: width, height: height, channels: channels))
        #expect(data.count < other.count)
        #expect(try PNGReaderTests.pixels(data) == pixels)
        let read = try VipsImage.load("pngload_buffer", bytes: data, ["fail_on": "warning"])
            .rendered()
        #expect(read.withUnsafeBytes { Array($0) } == pixels)
    }

    @Test func compressesAnyNoise() throws {
        var noise = Noise(21)
        for round in 0..<60 {
            let limit = Int.random(in: 2...256, using: &noise)
            var bytes = noise.bytes(
                Int.random(in: 1...(round % 9 == 0 ? 60_000 : 900), using: &noise), below: limit)
            // Strings that come again, near and far.
            for _ in 0..<bytes.count / 200 {
                let length = Int.random(in: 1...min(100, bytes.count), using: &noise)
                let from = Int.random(in: 0...bytes.count - length, using: &noise)
                let to = Int.random(in: 0...bytes.count - length, using: &noise)
                bytes.replaceSubrange(to..<to + length, with: Array(bytes[from..<from + length]))
            }
            let capacity = bytes.count + bytes.count / 8 + 4096
            let stream = [UInt8](unsafeUninitializedCapacity: capacity) { output, size in
                size = cpng_compress_noise(bytes, bytes.count, output.baseAddress, capacity)
            }
            guard !stream.isEmpty else { continue }
            let back = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, size in
                let result = cpng_inflate(stream, stream.count, output.baseAddress, bytes.count)
                size = result == CPNG_OK ? bytes.count : 0
            }
            #expect(back == bytes, "round \(round)")
            // No room for it: nothing is written beyond.
            var small = [UInt8](repeating: 0xAB, count: stream.count)
            #expect(cpng_compress_noise(bytes, bytes.count, &small, stream.count / 2) == 0)
            #expect(small[(stream.count / 2)...].allSatisfy { $0 == 0xAB })
        }
    }

    @Test func leavesOtherBytesToOthers() {
        let flat = [UInt8](repeating: 7, count: 50_000)
        var output = [UInt8](repeating: 0, count: 60_000)
        #expect(cpng_compress_noise(flat, flat.count, &output, output.count) == 0)
        #expect(cpng_compress_noise(flat, 0, &output, output.count) == 0)
    }

    @Test func refusesWhatItCannotHold() {
        let pixels: [UInt8] = [1, 2, 3]
        #expect(PNGWriter().file(of: pixels, width: 0, height: 1, channels: 3) == nil)
        #expect(PNGWriter().file(of: pixels, width: 1, height: 1, channels: 1) == nil)
        #expect(
            PNGWriter().file(of: pixels, width: 1 << 31, height: 1 << 31, channels: 4) == nil)
    }
}

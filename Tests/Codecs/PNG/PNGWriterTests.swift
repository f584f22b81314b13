import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import DirectCodecs

struct PNGWriterTests {
    private func file(
        _ pixels: [UInt8], _ width: Int, _ height: Int, _ channels: Int
    ) throws -> Data {
        let file = PNGWriter.file(of: pixels, width: width, height: height, channels: channels)
        return Data(try #require(file))
    }

    /// Both our reader and libpng give back the pixels.
    private func expectPixels(
        _ pixels: [UInt8], _ width: Int, _ height: Int, _ channels: Int
    ) throws {
        let data = try file(pixels, width, height, channels)
        #expect(try PNGReaderTests.pixels(data) == pixels)
        let image = try VipsImage.load("pngload_buffer", bytes: data, ["fail_on": "warning"])
        #expect(try image.samples() == pixels)
        #expect(image.bands == channels)
    }

    @Test(arguments: [3, 4])
    func writesWhatOthersRead(_ channels: Int) throws {
        for (width, height) in [(1, 1), (1, 40), (40, 1), (5, 7), (129, 66), (240, 160)] {
            let (_, pixels) = try PNGReaderTests.picture(
                width: width, height: height, bands: channels)
            try expectPixels(pixels, width, height, channels)
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

    @Test(arguments: [(0, 1, 3), (1, 1, 1), (1 << 31, 1 << 31, 4)])
    func refusesWhatItCannotHold(_ width: Int, _ height: Int, _ channels: Int) {
        let pixels: [UInt8] = [1, 2, 3]
        let file = PNGWriter.file(of: pixels, width: width, height: height, channels: channels)
        #expect(file == nil)
    }
}

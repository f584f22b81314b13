import Foundation
import Testing

@testable import DirectCodecs

struct JPEGWriterTests {
    private let fixture = JPEGFixture(width: 61, height: 43)

    private func write(_ pixels: [UInt8], channels: Int, quality: Int = 90) throws -> Data {
        try JPEGWriter.write(
            pixels, width: fixture.width, height: fixture.height, channels: channels,
            options: JPEGWriter.Options(quality: quality, halvesChroma: false))
    }

    private func meanDifference(_ a: [UInt8], _ b: [UInt8]) -> Double {
        Double(zip(a, b).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }) / Double(a.count)
    }

    @Test func writesWhatIsReadAgain() throws {
        let file = try write(fixture.pixels, channels: 3, quality: 98)
        #expect(meanDifference(try file.jpegPixels(), fixture.pixels) < 2)
    }

    @Test func writesMoreBytesForBetterQuality() throws {
        let sizes = try [1, 30, 60, 90, 100].map {
            try write(fixture.pixels, channels: 3, quality: $0).count
        }
        #expect(sizes == sizes.sorted())
        #expect(JPEGWriter.Options(quality: -5).quality == 1)
        #expect(JPEGWriter.Options(quality: 500).quality == 100)
    }

    @Test func halvesChromaBelowQuality90() throws {
        for (quality, factors) in [(89, UInt8(0x22)), (90, 0x11)] {
            let file = try JPEGWriter.write(
                fixture.pixels, width: 61, height: 43, channels: 3,
                options: JPEGWriter.Options(quality: quality))
            let frame = try #require(file.place(of: 0xC0))
            #expect(file[frame + 10] == factors)
        }
    }

    @Test func showsTheSameWhetherProgressiveOrNot() throws {
        let progressive = try fixture.jpeg(isProgressive: true)
        #expect(progressive.jpegHeader?.isProgressive == true)
        #expect(try progressive.jpegPixels() == fixture.jpeg().jpegPixels())
    }

    @Test func putsTransparentPixelsOnWhite() throws {
        let opaque = stride(from: 0, to: fixture.pixels.count, by: 3).flatMap {
            fixture.pixels[$0..<$0 + 3] + [255]
        }
        #expect(try write(opaque, channels: 4) == write(fixture.pixels, channels: 3))
        // A fifth of the colour and four fifths of white.
        let half = (0..<61 * 43).flatMap { _ -> [UInt8] in [100, 0, 200, 51] }
        let flat = (0..<61 * 43).flatMap { _ -> [UInt8] in [224, 204, 244] }
        #expect(try write(half, channels: 4) == write(flat, channels: 3))
    }

    @Test func saysWhatCannotBeWritten() {
        let row = [UInt8](repeating: 0, count: 70_000 * 3)
        #expect(throws: CodecRefusal.self) {
            try JPEGWriter.write(
                row, width: 70_000, height: 1, channels: 3, options: .init(quality: 80))
        }
    }
}

import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Whatever happens to the bytes: a clear error or a whole image, never a crash.
struct DamagedDataTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let data: Data
        var testDescription: String { name }
    }

    static let samples: [Sample] = {
        let grid = PixelGrid.gradient(width: 36, height: 28)
        var samples = [
            Sample(name: "BMP", data: BMPFixture.data(grid)),
            Sample(name: "ICO of a bitmap", data: ICOFixture.data([grid], as: .bmp)),
            Sample(name: "ICO of a PNG", data: ICOFixture.data([grid], as: .png)),
            Sample(name: "uncompressed PNG", data: PNGFixture.data(grid)),
            Sample(
                name: "animated GIF",
                data: GIFFixture.data(
                    [.red, .green].map { GIFFixture.Frame(.solid($0, width: 36, height: 28)) },
                    loopCount: 0)),
        ]
        // A format that is not written here has no sample.
        for format in ImageFormat.writable {
            if let data = try? encoded(grid.bitmap(channels: 3), as: format, quality: 0.9) {
                samples.append(Sample(name: format.rawValue, data: data))
            }
        }
        if let progressive = try? grid.bitmap(channels: 3).vipsImage()
            .encoded("jpegsave_buffer", ["interlace": true])
        {
            samples.append(Sample(name: "progressive JPEG", data: progressive))
        }
        return samples
    }()

    private func allPixels(_ data: Data) throws -> [Data] {
        try Image.decoding(data).allBitmaps().map(\.data)
    }

    @Test(arguments: samples)
    func neverTakesAPartForTheWhole(_ sample: Sample) throws {
        let whole = try allPixels(sample.data)
        let step = max(1, sample.data.count / 60)
        for length in stride(from: 0, to: sample.data.count, by: step) {
            do {
                let pixels = try allPixels(sample.data.prefix(length))
                // Where a frame of GIF ends, a file may end, too.
                let isWhole =
                    sample.name == "animated GIF" ? whole.starts(with: pixels) : pixels == whole
                #expect(isWhole, "\(length) of \(sample.data.count) bytes")
            } catch is ImageCodingError {
                // As it should be.
            }
        }
    }

    /// Errors are for people who know nothing of libraries.
    @Test(arguments: samples)
    func speaksOfTheFileAlone(_ sample: Sample) throws {
        for length in [sample.data.count / 3, sample.data.count / 2, sample.data.count * 9 / 10] {
            do {
                _ = try allPixels(sample.data.prefix(length))
            } catch let error as ImageCodingError {
                for word in ["vips", "Vips", "load", "Jxl", "_buffer", "libpng", "TIFFF"] {
                    #expect(!error.description.contains(word), "\(error)")
                }
            }
        }
    }

    @Test(arguments: samples)
    func survivesFlippedBits(_ sample: Sample) throws {
        // Every run sees the same damage.
        var generator = SeededGenerator(state: 20_240_607)
        for _ in 0..<60 {
            var data = sample.data
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<data.count, using: &generator)
                data[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            try expectWholeOrError(data)
        }
    }

    /// What is in an ancillary chunk does not change the picture; what is in the others does.
    @Test func showsAPNGUnlessTheChecksumOfItsPixelsIsWrong() throws {
        let grid = PixelGrid.gradient(width: 12, height: 9)
        let whole = PNGFixture.data(grid)
        // After the signature and the header, a comment whose checksum is not right.
        let comment: [UInt8] = [0, 0, 0, 3] + Array("tEXta".utf8) + [0, 98] + [1, 2, 3, 4]
        let shown = whole.prefix(33) + comment + whole.dropFirst(33)
        #expect(try decoded(shown).greatestDifference(from: grid.bitmap(channels: 3)) == 0)

        var wrong = whole
        let end = try #require(whole.lastRange(of: Data("IEND".utf8)))
        wrong[end.lowerBound - 5] ^= 1
        let damage = ImageCodingError.corrupt(.PNG, reason: "the checksum of its pixels is wrong")
        #expect(throws: damage) { try decoded(wrong) }
    }

    @Test(arguments: ImageFormat.allCases)
    func survivesAHeaderAndNothingElse(_ format: ImageFormat) throws {
        for sample in Self.samples where sample.data.kf.imageFormat == format {
            let data = sample.data.prefix(16) + Data(repeating: 0xFF, count: 200)
            #expect(throws: ImageCodingError.self) { try Image.decoding(data).bitmap() }
        }
    }
}

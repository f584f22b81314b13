import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// A file for a test, with a name for its cases.
struct NamedFile: Sendable, CustomTestStringConvertible {
    let name: String
    let data: Data
    var testDescription: String { name }
}

/// Whatever happens to the bytes: a clear error or a whole image, never a crash.
struct DamagedDataTests {
    static let samples: [NamedFile] = {
        let grid = PixelGrid.gradient(width: 36, height: 28)
        var samples = [
            NamedFile(name: "BMP", data: BMPFixture.data(grid)),
            NamedFile(name: "ICO of a bitmap", data: ICOFixture.data([grid], as: .bmp)),
            NamedFile(name: "ICO of a PNG", data: ICOFixture.data([grid], as: .png)),
            NamedFile(name: "uncompressed PNG", data: PNGFixture.data(grid)),
            NamedFile(
                name: "animated GIF",
                data: GIFFixture.data(
                    [.red, .green].map { GIFFixture.Frame(.solid($0, width: 36, height: 28)) },
                    loopCount: 0)),
        ]
        // A format that is not written here has no sample.
        for format in ImageFormat.writable {
            if let data = try? encoded(grid.bitmap(channels: 3), as: format, quality: 0.9) {
                samples.append(NamedFile(name: format.rawValue, data: data))
            }
        }
        if let progressive = try? grid.bitmap(channels: 3).vipsImage()
            .encoded("jpegsave_buffer", ["interlace": true])
        {
            samples.append(NamedFile(name: "progressive JPEG", data: progressive))
        }
        return samples
    }()

    private func allPixels(_ data: Data) throws -> [Data] {
        try Image.decoding(data).allBitmaps().map(\.data)
    }

    @Test(arguments: samples)
    func neverTakesAPartForTheWhole(_ sample: NamedFile) throws {
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
    func speaksOfTheFileAlone(_ sample: NamedFile) throws {
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
    func survivesFlippedBits(_ sample: NamedFile) throws {
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

/// JPEG files of which the mark at the end is missing, and nothing else or more.
struct UnendedJPEGTests {
    static let samples: [NamedFile] = {
        let options: [(String, [String: VipsValue])] = [
            ("baseline", [:]), ("progressive", ["interlace": true]),
            ("full chroma", ["subsample_mode": "off"]), ("restarts", ["restart_interval": 2]),
            ("optimised", ["optimize_coding": true]), ("grey", [:]), ("inks", [:]),
        ]
        return options.compactMap { name, options in
            (try? image(name).encoded("jpegsave_buffer", options)).map {
                NamedFile(name: name, data: $0)
            }
        }
    }()

    private static func image(_ name: String) throws -> VipsImage {
        let colours = try Bitmap.gradient(67, 45).vipsImage()
        return switch name {
        case "grey": try colours.apply("extract_band", ["band": 0]).interpreted(as: .bw)
        case "inks": try colours.apply("bandjoin_const", ["c": [20]]).interpreted(as: .cmyk)
        default: colours
        }
    }

    @Test(arguments: samples)
    func aFileWithoutItsEndIsReadAsWithIt(_ sample: NamedFile) throws {
        #expect(Self.samples.count > 5)
        let whole = try decoded(sample.data)
        let size = PixelSize(33, 22)
        for end in [[], [0xFF], [0xFF, 0xFF, 0xFF]] as [[UInt8]] {
            let file = Data(sample.data.dropLast(2) + end)
            #expect(try decoded(file).greatestDifference(from: whole) == 0)
            let information = try ImageInformation(of: file)
            #expect(information.size == whole.size && information.isComplete)
            let small = try decoded(file, at: size)
            #expect(try small.greatestDifference(from: decoded(sample.data, at: size)) == 0)
            #expect(try Image.decoding(file, options: .byVips).bitmap().size == whole.size)
        }
    }

    /// Also where a scan of several has come to its end.
    @Test(arguments: samples)
    func aFileWithoutSomeOfItsPixelsIsDamaged(_ sample: NamedFile) throws {
        let scans = sample.data.indices.dropLast().filter {
            sample.data[$0] == 0xFF && sample.data[$0 + 1] == 0xDA
        }
        let first = try #require(scans.first)
        let lengths =
            [first + 40, (first + sample.data.count) / 2, sample.data.count - 20]
            + scans.dropFirst()
        for length in lengths {
            #expect(throws: ImageCodingError.self, "\(length)") {
                try decoded(sample.data.prefix(length))
            }
        }
    }

    @Test(arguments: samples, [[0], [0, 0, 0], [0x20, 0xFF, 0, 0x0A]] as [[UInt8]])
    func bytesBetweenSegmentsArePassedOver(_ sample: NamedFile, _ filler: [UInt8]) throws {
        let whole = try decoded(sample.data)
        let table = try #require(sample.data.range(of: Data([0xFF, 0xDB]))).lowerBound
        for place in [2, table] {
            var file = sample.data
            file.insert(contentsOf: filler, at: place)
            #expect(file.kf.imageFormat == .JPEG)
            #expect(try decoded(file).greatestDifference(from: whole) == 0)
            let information = try ImageInformation(of: file)
            #expect(information.size == whole.size && information.jpegQuality == 75)
        }
    }
}

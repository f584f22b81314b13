import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// JPEG files of which the mark at the end is missing, and nothing else or more.
struct UnendedJPEGTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let data: Data
        var testDescription: String { name }
    }

    static let samples: [Sample] = {
        let options: [(String, [String: VipsValue])] = [
            ("baseline", [:]), ("progressive", ["interlace": true]),
            ("full chroma", ["subsample_mode": "off"]), ("restarts", ["restart_interval": 2]),
            ("optimised", ["optimize_coding": true]), ("grey", [:]), ("inks", [:]),
        ]
        return options.compactMap { name, options in
            (try? image(name).encoded("jpegsave_buffer", options)).map {
                Sample(name: name, data: $0)
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
    func aFileWithoutItsEndIsReadAsWithIt(_ sample: Sample) throws {
        #expect(Self.samples.count > 5)
        let whole = try decoded(sample.data)
        let size = PixelSize(33, 22)
        for missing in 1...2 {
            let file = Data(sample.data.dropLast(missing))
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
    func aFileWithoutSomeOfItsPixelsIsDamaged(_ sample: Sample) throws {
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
    func bytesBetweenSegmentsArePassedOver(_ sample: Sample, _ filler: [UInt8]) throws {
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

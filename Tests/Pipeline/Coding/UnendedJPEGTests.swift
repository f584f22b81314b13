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
            ("optimised", ["optimize_coding": true]),
        ]
        let colours = try? Bitmap.gradient(67, 45).vipsImage()
        var samples = options.compactMap { name, options in
            (try? colours?.encoded("jpegsave_buffer", options)).map { Sample(name: name, data: $0) }
        }
        if let grey = try? colours?.apply("extract_band", ["band": 0]).interpreted(as: .bw),
            let data = try? grey.encoded("jpegsave_buffer", [:])
        {
            samples.append(Sample(name: "grey", data: data))
        }
        if let cmyk = try? colours?.apply("bandjoin_const", ["c": [20]]).interpreted(as: .cmyk),
            let data = try? cmyk.encoded("jpegsave_buffer", [:])
        {
            samples.append(Sample(name: "inks", data: data))
        }
        return samples
    }()

    @Test(arguments: samples)
    func aFileWithoutItsEndIsReadAsWithIt(_ sample: Sample) throws {
        #expect(Self.samples.count > 5)
        let whole = try decoded(sample.data)
        for file in [sample.data.dropLast(2), sample.data.dropLast(1)] {
            let file = Data(file)
            #expect(try decoded(file).greatestDifference(from: whole) == 0)
            let information = try ImageInformation(of: file)
            #expect(information.size == whole.size)
            #expect(information.isComplete)
            let size = PixelSize(width: 33, height: 22)
            let small = try Image.decoding(file).kf.downsampled(toPixels: size).bitmap()
            let expected = try Image.decoding(sample.data).kf.downsampled(toPixels: size).bitmap()
            #expect(try small.greatestDifference(from: expected) == 0)
            var options = ImageCreatingOptions()
            options.coding = DirectCoding(formats: [], skipsJPEGCoefficients: false)
            #expect(try Image.decoding(file, options: options).bitmap().size == whole.size)
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

    @Test(arguments: samples)
    func bytesBetweenSegmentsArePassedOver(_ sample: Sample) throws {
        let whole = try decoded(sample.data)
        let table = try #require(sample.data.range(of: Data([0xFF, 0xDB]))).lowerBound
        for place in [2, table] {
            for filler in [[0], [0, 0, 0], [0x20, 0xFF, 0, 0x0A]] as [[UInt8]] {
                var file = sample.data
                file.insert(contentsOf: filler, at: place)
                #expect(file.kf.imageFormat == .JPEG)
                #expect(try decoded(file).greatestDifference(from: whole) == 0)
                let information = try ImageInformation(of: file)
                #expect(information.size == whole.size)
                #expect(information.jpegQuality == 75)
            }
        }
    }
}

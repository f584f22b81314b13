import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Files of other projects that were read wrongly once. The pixels were made by other decoders.
@Suite(.enabled(if: Corpus.directory != nil))
struct ForeignFilesTests {
    /// A line of `Tests/Samples/foreign-files.txt`.
    struct Sample: Sendable, CustomTestStringConvertible {
        let path: String
        let size: PixelSize
        let channels: Int
        let frames: Int
        /// Samples at places of the first frame.
        let pixels: [(place: PixelSize, samples: [Int])]
        var testDescription: String { path }

        init(_ line: Substring) {
            let words = line.split(separator: " ")
            let numbers = words[1...4].map { Int($0)! }
            path = String(words[0])
            size = PixelSize(numbers[0], numbers[1])
            (channels, frames) = (numbers[2], numbers[3])
            pixels = words[5...].map { word in
                let sides = word.split(separator: "=").map {
                    $0.split(separator: ",").map { Int($0)! }
                }
                return (PixelSize(sides[0][0], sides[0][1]), sides[1])
            }
        }
    }

    static let samples = (try? SampleFile.data("foreign-files.txt")).map { data in
        String(decoding: data, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
            .map(Sample.init)
    }

    @Test(arguments: samples ?? [])
    func readsFilesThatWereReadWrongly(_ sample: Sample) throws {
        guard let file = Corpus.file(sample.path) else { return }
        let data = try Data(contentsOf: file)
        let image = try Image.decoding(data)
        #expect(image.pixelSize == sample.size)
        #expect(image.hasAlpha == (sample.channels == 4))
        #expect(image.frameCount == sample.frames)
        if sample.path.hasPrefix("found-2/") {
            let information = try ImageInformation(of: data)
            #expect(information.size == sample.size)
            #expect(information.hasAlpha == image.hasAlpha)
            #expect(information.frameCount == sample.frames)
            #expect(information.isComplete)
        }
        let bitmap = try image.bitmap()
        #expect(bitmap.size == sample.size)
        for (place, expected) in sample.pixels {
            let found = bitmap.samples(place.width, place.height)
            let isClose = zip(found, expected).allSatisfy { abs(Int($0) - $1) <= 2 }
            #expect(isClose, "\(place): \(found), not \(expected)")
        }
        let frames = try image.allBitmaps()
        #expect(frames.count == sample.frames && frames.allSatisfy { $0.size == sample.size })
    }

    @Test func theSamplesAreThere() {
        #expect(Self.samples?.count == 33)
    }

    @Test(arguments: [
        ("cmyk-or-spot.jxl", ImageFormat.JPEGXL, "its colours are those of print (CMYK)"),
        ("int32.tiff", .TIFF, "integer samples of 32 bits are not read"),
        ("tiled-planar.tif", .TIFF, "tiles in separate planes are not read"),
        ("old-jpeg.tif", .TIFF, "it is compressed with old-style JPEG"),
        (
            "subsampled.tif", .TIFF,
            "colours of lower resolution than brightness are not read without JPEG"
        ),
        ("twelve-bit.tif", .TIFF, "12 bits per sample are not read"),
    ])
    func refusesFilesByTheNameOfTheirKind(
        _ name: String, _ format: ImageFormat, _ reason: String
    ) throws {
        guard let file = Corpus.file("found/\(name)") else { return }
        let data = try Data(contentsOf: file)
        let error = ImageCodingError.unsupported(format, reason: reason)
        #expect(throws: error) { try decoded(data) }
    }

    @Test func obeysTheGammaOfAPNG() throws {
        guard let file = Corpus.file("found-2/png-gama-linear.png") else { return }
        let data = try Data(contentsOf: file)
        let bitmap = try decoded(data)
        let plain = try decoded(
            PNGFixture.file(PNGFixture.chunks(of: data).filter { $0.type != "gAMA" }))
        for x in 0..<64 {
            let sample = SRGB.sample(Double(plain.samples(x, 3)[0]) / 255)
            #expect(abs(Double(bitmap.samples(x, 3)[0]) - 255 * sample) <= 1)
        }
    }

    /// A newer library may read them.
    @Test(arguments: [
        (
            "heif-unci-deflate.heif", ImageFormat.HEIC,
            "its uncompressed pixels (unci) are packed with deflate, which is not read"
        ),
        ("svg-fedropshadow.svg", .SVG, "the installed librsvg does not draw <feDropShadow>"),
        ("svg-transform-box.svg", .SVG, "the installed librsvg does not draw transform-box"),
    ])
    func namesWhatItDoesNotRead(_ name: String, _ format: ImageFormat, _ reason: String) throws {
        guard let file = Corpus.file("found-2/\(name)") else { return }
        let data = try Data(contentsOf: file)
        do {
            let bitmap = try decoded(data)
            #expect(format == .HEIC || bitmap.samples(70, 40)[1] > 100)
        } catch {
            #expect(error as? ImageCodingError == .unsupported(format, reason: reason))
        }
    }

    @Test func showsBrightFilesInTheRangeOfSRGB() throws {
        guard let file = Corpus.file("found/pq-hdr.jxl") else { return }
        let bitmap = try decoded(Data(contentsOf: file))
        // libjxl's own tone mapping, for a display of 255 candelas per square metre, gives 0.507.
        let columns = Array(stride(from: 0, to: bitmap.size.width, by: 4))
        let rows = Array(stride(from: 0, to: bitmap.size.height, by: 4))
        #expect(abs(Self.mean(bitmap, columns, rows).y / 255 - 0.507) < 0.06)
    }

    /// The grain that is added differs from one version of libjxl to the next, and only that. The means of
    /// blocks are those of libjxl 0.11.
    @Test func showsNoiseThatIsAddedByTheDecoder() throws {
        guard let file = Corpus.file("found/noise.jxl") else { return }
        let bitmap = try decoded(Data(contentsOf: file))
        #expect(bitmap.size == PixelSize(500, 606))
        for (column, row, colour) in [
            (0, 0, [118, 127, 101]), (4, 1, [194, 77, 37]), (1, 2, [200, 158, 159]),
            (6, 2, [198, 64, 38]), (2, 3, [198, 95, 85]), (5, 4, [178, 128, 128]),
            (0, 5, [97, 97, 99]), (7, 7, [100, 99, 99]),
        ] as [(Int, Int, [Double])] {
            let mean = Self.mean(
                bitmap, column * 500 / 8..<(column + 1) * 500 / 8,
                row * 606 / 8..<(row + 1) * 606 / 8)
            for channel in 0..<3 {
                #expect(abs(mean[channel] - colour[channel]) < 2.5, "\(column), \(row): \(mean)")
            }
        }
    }

    /// The mean colour of a part, on the scale 0…255.
    private static func mean(
        _ bitmap: Bitmap, _ columns: some Collection<Int>, _ rows: some Collection<Int>
    ) -> SIMD4<Double> {
        var sum = SIMD4<Double>.zero
        for y in rows {
            for x in columns { sum += bitmap[x, y].vector }
        }
        return sum * 255 / Double(rows.count * columns.count)
    }

    /// Its profile has tables for one intent only. Little CMS gives these means.
    @Test func convertsColoursOfXYB() throws {
        guard let file = Corpus.file("formats/sample-xyb.jpg") else { return }
        let bitmap = try decoded(Data(contentsOf: file))
        let found = Self.mean(bitmap, 0..<bitmap.size.width, 0..<bitmap.size.height)
        for (channel, mean) in [126.1, 116.9, 107.7].enumerated() {
            #expect(abs(found[channel] - mean) < 2)
        }
    }

    @Test(arguments: [50, 100, 333])
    func reducesWideGamutFilesFinely(_ side: Int) throws {
        guard let file = Corpus.file("found/display-p3.jpg") else { return }
        let data = try Data(contentsOf: file)
        let expected = try VipsImage.load("jpegload_buffer", bytes: data)
            .resampledFinelyToSRGB(side, side)
        let reduction = Reduction(size: PixelSize(side, side), quality: .best)
        let reduced = try EncodedImage(data).opened.decode(frame: 0, .exactly(reduction))
        let found = try Bitmap(rendering: #require(reduced).pipeline())
        #expect(try found.peakSignalToNoise(expected) >= 50)
    }
}

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
        for y in rows { for x in columns { sum += bitmap[x, y].vector } }
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
}

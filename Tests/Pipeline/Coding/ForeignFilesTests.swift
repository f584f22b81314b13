import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Files of other projects that were read wrongly once. The pixels were made by other decoders.
@Suite(.enabled(if: Corpus.directory != nil))
struct ForeignFilesTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let size: PixelSize
        let channels: Int
        var frames = 1
        /// Samples of 8 bits at places of the first frame.
        var pixels: [PixelSize: [Int]] = [:]
        var testDescription: String { name }

        init(
            _ name: String, _ width: Int, _ height: Int, channels: Int, frames: Int = 1,
            _ pixels: [(Int, Int, [Int])]
        ) {
            self.name = name
            size = PixelSize(width: width, height: height)
            self.channels = channels
            self.frames = frames
            for (x, y, samples) in pixels {
                self.pixels[PixelSize(width: x, height: y)] = samples
            }
        }
    }

    static let samples = [
        // libavif 1.4 (Pillow), cropped by hand to what its boxes say
        Sample(
            "alpha-lost-1.avif", 180, 100, channels: 4,
            [
                (90, 50, [255, 0, 253, 255]),
                (45, 33, [0, 0, 253, 255]),
                (135, 66, [255, 0, 253, 255]),
                (36, 80, [0, 0, 253, 255]),
            ]),
        // avifdec 0.11.1 --no-strict
        Sample(
            "alpha-lost-2.avif", 80, 80, channels: 4,
            [
                (40, 40, [254, 254, 252, 255]),
                (20, 26, [127, 213, 43, 255]),
                (60, 53, [82, 159, 8, 255]),
                (16, 64, [98, 177, 23, 255]),
            ]),
        // libavif 1.4 (Pillow)
        Sample(
            "alpha-lost-3.avif", 34, 12, channels: 4,
            [
                (6, 9, [0, 134, 0, 46])
            ]),
        // libavif 1.4 (Pillow)
        Sample(
            "alpha-lost-irot.avif", 256, 512, channels: 4,
            [
                (128, 256, [0, 0, 0, 255]),
                (64, 170, [255, 255, 255, 128]),
                (192, 341, [255, 255, 255, 128]),
                (51, 409, [255, 255, 255, 128]),
            ]),
        // heif-convert 1.15.1, at places where it enlarges the colours in the same way
        Sample(
            "rotate-crop-1.avif", 385, 330, channels: 3,
            [
                (288, 220, [217, 215, 190]),
                (77, 264, [215, 223, 178]),
            ]),
        // libavif 1.4 (Pillow)
        Sample(
            "rotate-crop-2.avif", 722, 1024, channels: 3,
            [
                (180, 341, [135, 171, 172]),
                (541, 682, [170, 186, 184]),
                (144, 819, [191, 205, 203]),
            ]),
        // avifdec 0.11.1 --index 0
        Sample(
            "sequence-1.avif", 159, 159, channels: 3, frames: 5,
            [
                (79, 79, [234, 220, 160]),
                (39, 53, [234, 220, 160]),
                (31, 127, [16, 16, 16]),
            ]),
        // avifdec 0.11.1 --index 0
        Sample(
            "sequence-2.avif", 159, 159, channels: 3, frames: 5,
            [
                (79, 79, [235, 220, 161]),
                (39, 53, [235, 220, 161]),
                (31, 127, [16, 16, 16]),
            ]),
        // avifdec 0.11.1 --index 0
        Sample(
            "alpha-sequence.avif", 159, 159, channels: 4, frames: 5,
            [
                (79, 79, [254, 238, 171, 255]),
                (39, 53, [254, 238, 171, 255]),
            ]),
        // Pillow, turned by numpy
        Sample(
            "animated-orientation-3.webp", 183, 278, channels: 4, frames: 4,
            [
                (91, 139, [255, 223, 0, 255]),
                (45, 92, [2, 91, 161, 255]),
                (137, 185, [0, 115, 199, 255]),
                (36, 222, [0, 108, 189, 255]),
            ]),
        // Pillow, turned by numpy
        Sample(
            "animated-orientation-6.webp", 278, 183, channels: 4, frames: 4,
            [
                (139, 91, [255, 223, 0, 255]),
                (69, 61, [9, 86, 147, 255]),
                (208, 122, [0, 114, 199, 255]),
                (55, 146, [4, 89, 156, 255]),
            ]),
        // Pillow, turned by numpy
        Sample(
            "animated-orientation-8.webp", 278, 183, channels: 4, frames: 4,
            [
                (139, 91, [255, 223, 0, 255]),
                (69, 61, [0, 114, 199, 255]),
                (208, 122, [0, 75, 136, 255]),
                (55, 146, [0, 110, 191, 255]),
            ]),
        // Its header
        Sample(
            "canvas-800x600.gif", 800, 600, channels: 4,
            [(400, 300, [255, 0, 0, 255]), (790, 590, [0, 0, 0, 0]), (3, 3, [0, 0, 0, 0])]),
        // Pillow
        Sample(
            "rubbish-after-frame.gif", 100, 100, channels: 4,
            [
                (50, 50, [255, 0, 0, 255]),
                (25, 33, [255, 0, 0, 255]),
                (75, 66, [255, 0, 0, 255]),
                (20, 80, [255, 0, 0, 255]),
            ]),
        // libjxl 0.11.2
        Sample(
            "float.jxl", 500, 500, channels: 3,
            [
                (250, 250, [0, 1, 0])
            ]),
        // libjxl 0.11.2, colours divided by numpy
        Sample(
            "premultiplied-alpha.jxl", 1024, 1024, channels: 4,
            [
                (512, 512, [255, 128, 127, 128]),
                (256, 341, [127, 64, 65, 85]),
                (768, 682, [255, 191, 191, 170]),
                (204, 819, [102, 51, 51, 204]),
            ]),
        // Pillow
        Sample(
            "signed-8-bit.tif", 128, 128, channels: 3,
            [
                (96, 85, [20, 20, 20]),
                (25, 102, [14, 14, 14]),
            ]),
        // CIE L*a*b* 50.2, −100, 0 by hand
        Sample("lab.tif", 10, 10, channels: 3, [(5, 5, [0, 152, 117])]),
        // Pillow, of a copy with the right offset
        Sample(
            "wrong-offset.bmp", 127, 64, channels: 3,
            [
                (5, 5, [255, 43, 51]),
                (63, 40, [255, 85, 255]),
                (100, 20, [0, 0, 0]),
                (126, 63, [102, 85, 102]),
                (0, 63, [0, 0, 0]),
            ]),
        // The size of pictures without one in pages
        Sample("no-size.svg", 300, 150, channels: 4, [(200, 100, [0, 0, 0, 0])]),
    ]

    @Test(arguments: samples)
    func readsFilesThatWereReadWrongly(_ sample: Sample) throws {
        guard let file = Corpus.file("found/\(sample.name)") else { return }
        let image = try Image.decoding(Data(contentsOf: file))
        #expect(image.pixelSize == sample.size)
        #expect(image.hasAlpha == (sample.channels == 4))
        #expect(image.frameCount == sample.frames)
        let bitmap = try image.bitmap()
        #expect(bitmap.size == sample.size)
        for (place, expected) in sample.pixels {
            let found = bitmap.samples(place.width, place.height)
            let isClose = zip(found, expected).allSatisfy { abs(Int($0) - $1) <= 2 }
            #expect(isClose, "\(place): \(found), not \(expected)")
        }
        if sample.frames > 1 {
            #expect(try image.allBitmaps().allSatisfy { $0.size == sample.size })
        }
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
        #expect(throws: ImageCodingError.unsupported(format, reason: reason)) {
            try decoded(data)
        }
    }

    // MARK: found-2

    static let laterSamples = [
        Sample("svg-percent-no-size.svg", 300, 150, channels: 4, [(299, 149, [255, 0, 0, 255])]),
        Sample(
            "svg-pattern-1e9.svg", 100, 100, channels: 4,
            [(0, 0, [0, 0, 0, 255]), (50, 50, [0, 0, 0, 0])]),
        Sample("k.svgz", 480, 360, channels: 4, [(4, 4, [253, 231, 199, 255])]),
        Sample("u16.svg", 480, 360, channels: 4, [(4, 4, [253, 231, 199, 255])]),
        Sample("exif-orientation-LONG.jpg", 30, 60, channels: 3, []),
        // The same ramp in AVIF
        Sample(
            "heic-pq-bt2020.heic", 256, 64, channels: 3,
            [(250, 32, [255, 255, 255])]),
        // Pillow with Little CMS
        Sample("tiff-lab16.tif", 48, 32, channels: 3, [(5, 5, [219, 151, 239])]),
        Sample(
            "tiff-rgb-unspecified-extra.tif", 30, 20, channels: 3, [(5, 5, [200, 150, 0])]),
        Sample("jpeg-zero-bytes-between-segments.jpg", 120, 60, channels: 3, []),
        // A browser
        Sample(
            "avif-mono-gray-icc-linear.avif", 128, 32, channels: 3,
            [
                (16, 16, [99, 99, 99]), (48, 16, [165, 165, 165]), (80, 16, [208, 208, 208]),
                (112, 16, [241, 241, 241]),
            ]),
        Sample("e_gif_notrailer.gif", 40, 30, channels: 4, frames: 3, []),
        Sample("e_gif_nul_between.gif", 40, 30, channels: 4, frames: 3, []),
        Sample("e_jpg_noeoi.jpg", 400, 300, channels: 3, []),
    ]

    @Test(arguments: laterSamples)
    func readsWhatOthersRead(_ sample: Sample) throws {
        guard let file = Corpus.file("found-2/\(sample.name)") else { return }
        let data = try Data(contentsOf: file)
        let image = try Image.decoding(data)
        #expect(image.pixelSize == sample.size)
        #expect(image.hasAlpha == (sample.channels == 4))
        #expect(image.frameCount == sample.frames)
        let information = try ImageInformation(of: data)
        #expect(information.size == sample.size)
        #expect(information.hasAlpha == image.hasAlpha)
        #expect(information.frameCount == sample.frames)
        #expect(information.isComplete)
        let bitmap = try image.bitmap()
        #expect(bitmap.size == sample.size)
        for (place, expected) in sample.pixels {
            let found = bitmap.samples(place.width, place.height)
            let isClose = zip(found, expected).allSatisfy { abs(Int($0) - $1) <= 2 }
            #expect(isClose, "\(place): \(found), not \(expected)")
        }
        #expect(try image.allBitmaps().count == sample.frames)
    }

    @Test func obeysTheGammaOfAPNG() throws {
        guard let file = Corpus.file("found-2/png-gama-linear.png") else { return }
        let data = try Data(contentsOf: file)
        let bitmap = try decoded(data)
        let stored = PNGFixture.file(PNGFixture.chunks(of: data).filter { $0.type != "gAMA" })
        let plain = try decoded(stored)
        for x in 0..<64 {
            let light = Double(plain.samples(x, 3)[0]) / 255
            let sample = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
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
        var sum = 0.0
        for y in stride(from: 0, to: bitmap.size.height, by: 4) {
            for x in stride(from: 0, to: bitmap.size.width, by: 4) { sum += bitmap[x, y].green }
        }
        // libjxl's own tone mapping, for a display of 255 candelas per square metre, gives 0.507.
        let mean = sum / Double((bitmap.size.width + 3) / 4 * ((bitmap.size.height + 3) / 4))
        #expect(abs(mean - 0.507) < 0.06)
    }

    /// The grain that is added differs from one version of libjxl to the next, and only that. The means of
    /// blocks are those of libjxl 0.11.
    @Test func showsNoiseThatIsAddedByTheDecoder() throws {
        guard let file = Corpus.file("found/noise.jxl") else { return }
        let bitmap = try decoded(Data(contentsOf: file))
        #expect(bitmap.size == PixelSize(width: 500, height: 606))
        let blocks: [(x: Int, y: Int, colour: [Double])] = [
            (0, 0, [118, 127, 101]), (4, 1, [194, 77, 37]), (1, 2, [200, 158, 159]),
            (6, 2, [198, 64, 38]), (2, 3, [198, 95, 85]), (5, 4, [178, 128, 128]),
            (0, 5, [97, 97, 99]), (7, 7, [100, 99, 99]),
        ]
        for block in blocks {
            let rows = block.y * 606 / 8..<(block.y + 1) * 606 / 8
            let columns = block.x * 500 / 8..<(block.x + 1) * 500 / 8
            var sums = SIMD3<Double>.zero
            for y in rows {
                for x in columns {
                    let colour = bitmap[x, y]
                    sums += SIMD3(colour.red, colour.green, colour.blue) * 255
                }
            }
            let mean = sums / Double(rows.count * columns.count)
            for channel in 0..<3 {
                #expect(abs(mean[channel] - block.colour[channel]) < 2.5, "\(block): \(mean)")
            }
        }
    }

    /// Its profile has tables for one intent only. Little CMS gives these means.
    @Test func convertsColoursOfXYB() throws {
        guard let file = Corpus.file("formats/sample-xyb.jpg") else { return }
        let bitmap = try decoded(Data(contentsOf: file))
        var sums = [0, 0, 0]
        for y in 0..<bitmap.size.height {
            for x in 0..<bitmap.size.width {
                for (channel, sample) in bitmap.samples(x, y).enumerated() {
                    sums[channel] += Int(sample)
                }
            }
        }
        for (sum, mean) in zip(sums, [126.1, 116.9, 107.7]) {
            #expect(abs(Double(sum) / Double(bitmap.size.pixelCount) - mean) < 2)
        }
    }

    @Test(arguments: [50, 100, 333])
    func reducesWideGamutFilesFinely(_ side: Int) throws {
        guard let file = Corpus.file("found/display-p3.jpg") else { return }
        let data = try Data(contentsOf: file)
        let expected = try VipsImage.load("jpegload_buffer", bytes: data)
            .resampledFinelyToSRGB(side, side)
        let encoded = try EncodedImage(data)
        let reduction = Reduction(size: PixelSize(width: side, height: side), quality: .best)
        let reduced = try encoded.opened.decode(frame: 0, .exactly(reduction))
        let pixels = try #require(reduced)
        let found = try Bitmap(rendering: pixels.pipeline())
        let quality = try found.peakSignalToNoise(expected)
        #expect(quality >= 50)
    }
}

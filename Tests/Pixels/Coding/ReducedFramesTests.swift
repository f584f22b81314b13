import CCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// AVIF and JPEG XL files that are made smaller by their decoders, beside what is decoded in full and then
/// resampled in floating-point numbers.
struct ReducedFramesTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        var format = AVIF_PIXEL_FORMAT_YUV420
        var matrix = AVIF_MATRIX_COEFFICIENTS_BT601
        var range = AVIF_RANGE_FULL
        var testDescription: String { name }

        func fixture(depth: Int) -> AVIFFixture {
            AVIFFixture(depth: depth, format: format, matrix: matrix, range: range)
        }
    }

    private static let samples = [
        Sample(name: "chroma of half the resolution"),
        Sample(
            name: "chroma of half the width, BT.709", format: AVIF_PIXEL_FORMAT_YUV422,
            matrix: AVIF_MATRIX_COEFFICIENTS_BT709),
        Sample(
            name: "range of video, BT.2020", matrix: AVIF_MATRIX_COEFFICIENTS_BT2020_NCL,
            range: AVIF_RANGE_LIMITED),
        Sample(
            name: "RGB", format: AVIF_PIXEL_FORMAT_YUV444,
            matrix: AVIF_MATRIX_COEFFICIENTS_IDENTITY),
        Sample(name: "grey", format: AVIF_PIXEL_FORMAT_YUV400),
        Sample(
            name: "no matrix of constants", format: AVIF_PIXEL_FORMAT_YUV444,
            matrix: AVIF_MATRIX_COEFFICIENTS_YCGCO),
    ]

    /// Rings, stripes and slopes without symmetry, within what luminance and chroma can say.
    private static func grid(
        width: Int = 203, height: Int = 151, hasAlpha: Bool = false
    ) -> PixelGrid {
        PixelGrid(width: width, height: height) { x, y in
            let (u, v) = (Double(x) / 200, Double(y) / 150)
            let rings = cos((u * u + v * v) * 60)
            let stripes = (x / 7 + y / 5) % 3 == 0 ? 30.0 : 0
            return Pixel(
                UInt8(100 + 40 * rings + stripes), UInt8(100 + 30 * u * sin(v * 30) + stripes),
                UInt8(80 + 60 * v), hasAlpha ? UInt8(60 + 150 * min(u, 1)) : 255)
        }
    }

    /// The whole picture, resampled.
    private static func expected(_ data: Data, _ size: PixelSize) throws -> Bitmap {
        let full = try decoded(data)
        let image = try full.vipsImage()
        let float = try full.hasAlpha ? image.premultiplied() : image.cast(to: .float)
        let resized = try float.resampledByLanczos(size.width, size.height)
        let straight = try full.hasAlpha ? resized.unpremultiplied() : resized
        return try Bitmap(rendering: straight.rounded(to: full.depth == .eight ? .uchar : .ushort))
    }

    /// What the decoder makes of a file in a smaller size.
    private static func reduced(_ data: Data, _ size: PixelSize) throws -> Bitmap? {
        let reduction = Reduction(size: size, quality: .best)
        let pixels = try EncodedImage(data).opened.decode(frame: 0, .exactly(reduction))
        if case .bitmap(let bitmap)? = pixels { return bitmap }
        return try pixels.map { try Bitmap(rendering: $0.pipeline()) }
    }

    private static func check(
        _ data: Data, _ sizes: [PixelSize] = Self.sizes, quality: Double = 45,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for size in sizes {
            let found = try #require(try reduced(data, size), sourceLocation: sourceLocation)
            let expected = try expected(data, size)
            #expect(found.depth == expected.depth, sourceLocation: sourceLocation)
            #expect(found.channels == expected.channels, sourceLocation: sourceLocation)
            let decibels = try found.peakSignalToNoise(expected)
            #expect(decibels >= quality, "\(size): \(decibels) dB", sourceLocation: sourceLocation)
            // What lies beyond the edges is taken otherwise by libvips.
            let opacity = try found.differences(from: expected).map { abs($0.w) * 255 }
            #expect(opacity.allSatisfy { $0 < 4 }, sourceLocation: sourceLocation)
            let mean = opacity.reduce(0, +) / Double(size.pixelCount)
            #expect(mean < 1.01, sourceLocation: sourceLocation)
        }
    }

    private static let sizes = [
        PixelSize(40, 30), PixelSize(67, 50), PixelSize(202, 150), PixelSize(1, 1),
    ]

    @Test(arguments: samples, [8, 10, 12])
    func planesAreReducedAsFinelyAsPictures(_ sample: Sample, depth: Int) throws {
        try Self.check(sample.fixture(depth: depth).data(Self.grid()), quality: 47)
    }

    @Test(arguments: samples.filter { $0.format != AVIF_PIXEL_FORMAT_YUV400 }, [8, 10])
    func coloursAreWeighedByTheirOpacity(_ sample: Sample, depth: Int) throws {
        try Self.check(sample.fixture(depth: depth).data(Self.grid(hasAlpha: true)))
    }

    @Test(arguments: [8, 10]) func coloursOfTransparentPixelsDoNotShineThrough(depth: Int) throws {
        let grid = PixelGrid(width: 64, height: 48) { x, _ in
            x < 32 ? Pixel(255, 0, 0, 0) : Pixel(0, 0, 255, 255)
        }
        let data = try AVIFFixture(depth: depth).data(grid)
        let found = try #require(try Self.reduced(data, PixelSize(8, 6)))
        #expect(found.samples(0, 3)[3] < 3)
        #expect(found.samples(7, 3) == [0, 0, 255, 255])
        #expect((0..<8).allSatisfy { found.samples($0, 3)[0] == 0 })
    }

    /// Crops that begin between two samples of chroma, and others.
    @Test(arguments: [0, 1, 2, 3], [nil, 0, 1])
    func croppedPicturesAreTurnedWhenTheyAreSmall(_ quarters: Int, _ mirror: Int?) throws {
        let grid = Self.grid(width: 181, height: 130)
        for (left, top) in [(0, 0), (12, 4), (13, 7)] {
            for depth in [8, 10] {
                var fixture = Sample(name: "").fixture(depth: depth)
                fixture.quarterTurns = quarters
                fixture.mirrorAxis = mirror
                fixture.crop = (left: left, top: top, width: 141, height: 101)
                try Self.check(fixture.data(grid), [PixelSize(47, 33)])
            }
        }
    }

    @Test func coloursAreConvertedWhenThereAreFewest() throws {
        let profile = try iccProfile("p3")
        for fixture in [
            AVIFFixture(depth: 10, primaries: 12), AVIFFixture(depth: 8, profile: profile),
            AVIFFixture(depth: 10, profile: profile),
        ] { try Self.check(fixture.data(Self.grid())) }
    }

    /// Light and the curve of bright pictures are too far from sRGB for resampling before the conversion.
    @Test(arguments: [8, 16, 18])
    func otherCurvesAreConvertedFirst(_ transfer: Int) throws {
        let size = PixelSize(40, 30)
        let data = try AVIFFixture(depth: 10, transfer: transfer).data(Self.grid())
        #expect(try Self.reduced(data, size) == nil)
        let small = try decoded(data, at: size)
        #expect(try small.peakSignalToNoise(Self.expected(data, size)) >= 45)
    }

    @Test(arguments: [false, true], [false, true])
    func picturesOfJPEGXLAreReducedAsFinely(_ hasAlpha: Bool, isDeep: Bool) throws {
        var bitmap = try Self.grid(hasAlpha: hasAlpha).bitmap(channels: hasAlpha ? 4 : 3)
        if isDeep {
            bitmap = try Bitmap(
                rendering: bitmap.vipsImage().apply("linear", ["a": [257], "b": [3]])
                    .cast(to: .ushort).interpreted(as: .rgb16))
        }
        let data = try encoded(bitmap, as: .JPEGXL, isLossless: true)
        #expect(try EncodedImage(data).header.depth == bitmap.depth)
        try Self.check(data)
    }

    /// By libvips, which nothing else reads.
    @Test(arguments: [
        "TestImage.heic", "gradient-10b-srgb-opaque.heic", "gradient-10b-srgb-alpha.heic",
        "gradient-10b-displayp3-alpha.heic",
    ])
    func rowsOfHEICAreReducedAsFinely(_ name: String) throws {
        guard let file = Corpus.file("formats/\(name)") else { return }
        try Self.check(Data(contentsOf: file), [PixelSize(60, 45)])
    }

    @Test func sequencesAreReducedAfterDecoding() throws {
        let data = try AVIFFixture().data(
            [Pixel.red, .green].map { PixelGrid.solid($0, width: 32, height: 24) })
        #expect(try Self.reduced(data, PixelSize(8, 6)) == nil)
        let small = try Image.decoding(data).kf.downsampled(toPixels: PixelSize(8, 6))
        #expect(try small.allBitmaps().map { $0.samples(3, 3) } == [[255, 0, 0], [0, 255, 0]])
    }

    @Test func picturesCanBeReducedAgainAndAgain() throws {
        let opened = try EncodedImage(Sample(name: "").fixture(depth: 8).data(Self.grid())).opened
        let reduction = Reduction(size: PixelSize(30, 20), quality: .fast)
        let bitmaps = try (0..<3).map { _ in
            let pixels = try opened.decode(frame: 0, .exactly(reduction))
            return try Bitmap(rendering: #require(pixels).pipeline()).data
        }
        #expect(Set(bitmaps).count == 1)
    }

    @Test func theFullPictureTakesNoMemory() throws {
        let data = try Sample(name: "").fixture(depth: 8).data(Self.grid(width: 500, height: 400))
        func needed(_ image: Image) throws -> Int {
            let error = #expect(throws: ImageCodingError.self) { try image.bitmap() }
            return try #require(error?.neededMemory)
        }
        let image = try Image.decoding(data, limits: DecodingLimits(maximumMemory: 1))
        let small = image.kf.downsampled(toPixels: PixelSize(50, 40))
        // Beside the small picture some of it is needed for the steps.
        #expect(try needed(image) - needed(small) > 3 * (500 * 400 - 3 * 50 * 40))
    }

    /// In full and smaller.
    @Test func callsWhatIsCutShortDamaged() throws {
        let avif = try AVIFFixture().data(.noise(width: 60, height: 45))
        let jxl = try encoded(.gradient(60, 45), as: .JPEGXL)
        for (data, format) in [(avif, ImageFormat.AVIF), (jxl, .JPEGXL)] {
            for length in [data.count - 1, data.count / 2, data.count / 4] {
                for size in [PixelSize(60, 45), PixelSize(20, 15)] {
                    let error = #expect(throws: ImageCodingError.self) {
                        try decoded(data.prefix(length), at: size)
                    }
                    #expect(error?.damagedFormat == format, "\(length)")
                }
            }
        }
    }
}

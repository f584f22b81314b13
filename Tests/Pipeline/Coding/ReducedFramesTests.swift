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
                UInt8(80 + 60 * v),
                hasAlpha ? UInt8(60 + 150 * min(u, 1)) : 255)
        }
    }

    /// The whole picture, resampled.
    private static func expected(_ data: Data, _ size: PixelSize) throws -> Bitmap {
        let full = try decoded(data)
        let image = try full.vipsImage()
        let float = try full.hasAlpha ? image.premultiplied() : image.cast(to: .float)
        let resized = try float.apply(
            "resize",
            [
                "scale": .double(Double(size.width) / Double(full.size.width)),
                "vscale": .double(Double(size.height) / Double(full.size.height)),
                "gap": .double(0),
            ])
        let straight = try full.hasAlpha ? resized.unpremultiplied() : resized
        return try Bitmap(
            rendering: straight.rounded(to: full.depth == .eight ? .uchar : .ushort))
    }

    /// What the decoder makes of a file in a smaller size.
    private static func reduced(_ data: Data, _ size: PixelSize) throws -> Bitmap? {
        let reduction = Reduction(size: size, quality: .best)
        let pixels = try EncodedImage(data).opened.decode(frame: 0, .exactly(reduction))
        if case .bitmap(let bitmap)? = pixels { return bitmap }
        return try pixels.map { try Bitmap(rendering: $0.pipeline()) }
    }

    private static func check(
        _ data: Data, _ sizes: [PixelSize], quality: Double = 47,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for size in sizes {
            let found = try #require(try reduced(data, size), sourceLocation: sourceLocation)
            let expected = try expected(data, size)
            #expect(found.depth == expected.depth, sourceLocation: sourceLocation)
            #expect(found.channels == expected.channels, sourceLocation: sourceLocation)
            let decibels = try found.peakSignalToNoise(expected)
            #expect(
                decibels >= quality, "\(size): \(decibels) dB", sourceLocation: sourceLocation)
            guard found.hasAlpha else { continue }
            var (greatest, sum) = (0.0, 0.0)
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let difference = abs(found[x, y].alpha - expected[x, y].alpha)
                    greatest = max(greatest, difference)
                    sum += difference
                }
            }
            // What lies beyond the edges is taken otherwise by libvips.
            #expect(greatest < 4.0 / 255, sourceLocation: sourceLocation)
            #expect(
                sum / Double(size.pixelCount) < 1.01 / 255, sourceLocation: sourceLocation)
        }
    }

    private static let sizes = [(40, 30), (67, 50), (202, 150), (1, 1)]
        .map { PixelSize(width: $0.0, height: $0.1) }

    @Test(arguments: samples, [8, 10, 12])
    func planesAreReducedAsFinelyAsPictures(_ sample: Sample, depth: Int) throws {
        try Self.check(sample.fixture(depth: depth).data(Self.grid()), Self.sizes)
    }

    @Test(arguments: samples.filter { $0.format != AVIF_PIXEL_FORMAT_YUV400 }, [8, 10])
    func coloursAreWeighedByTheirOpacity(_ sample: Sample, depth: Int) throws {
        let data = try sample.fixture(depth: depth).data(Self.grid(hasAlpha: true))
        try Self.check(data, Self.sizes, quality: 45)
    }

    @Test func coloursOfTransparentPixelsDoNotShineThrough() throws {
        for depth in [8, 10] {
            let grid = PixelGrid(width: 64, height: 48) { x, _ in
                x < 32 ? Pixel(255, 0, 0, 0) : Pixel(0, 0, 255, 255)
            }
            let size = PixelSize(width: 8, height: 6)
            let found = try #require(
                try Self.reduced(AVIFFixture(depth: depth).data(grid), size))
            #expect(found.samples(0, 3)[3] < 3)
            #expect(found.samples(7, 3) == [0, 0, 255, 255])
            for x in 0..<8 { #expect(found.samples(x, 3)[0] == 0) }
        }
    }

    /// Crops that begin between two samples of chroma, and others.
    @Test(arguments: [0, 1, 2, 3], [nil, 0, 1])
    func croppedPicturesAreTurnedWhenTheyAreSmall(_ quarters: Int, _ mirror: Int?) throws {
        for (left, top) in [(0, 0), (12, 4), (13, 7)] {
            for depth in [8, 10] {
                var fixture = Sample(name: "").fixture(depth: depth)
                fixture.quarterTurns = quarters
                fixture.mirrorAxis = mirror
                fixture.crop = (left: left, top: top, width: 141, height: 101)
                let size = PixelSize(width: 47, height: 33)
                try Self.check(
                    fixture.data(Self.grid(width: 181, height: 130)), [size], quality: 45)
            }
        }
    }

    @Test func coloursAreConvertedWhenThereAreFewest() throws {
        let wide = AVIFFixture(depth: 10, primaries: 12)
        try Self.check(wide.data(Self.grid()), Self.sizes, quality: 45)
        var operation = VipsOperation("profile_load")
        operation.set("name", .string("p3"))
        let profile = try operation.run().blob("profile")
        for depth in [8, 10] {
            let tagged = AVIFFixture(depth: depth, profile: profile)
            try Self.check(tagged.data(Self.grid()), Self.sizes, quality: 45)
        }
    }

    /// Light and the curve of bright pictures are too far from sRGB for resampling before the conversion.
    @Test(arguments: [8, 16, 18])
    func otherCurvesAreConvertedFirst(_ transfer: Int) throws {
        let size = PixelSize(width: 40, height: 30)
        let data = try AVIFFixture(depth: 10, transfer: transfer).data(Self.grid())
        #expect(try Self.reduced(data, size) == nil)
        let image = try Image.decoding(data).kf.downsampled(toPixels: size)
        #expect(try image.bitmap().peakSignalToNoise(Self.expected(data, size)) >= 45)
    }

    @Test(arguments: [false, true], [false, true])
    func picturesOfJPEGXLAreReducedAsFinely(_ hasAlpha: Bool, isDeep: Bool) throws {
        var bitmap = try Self.grid(hasAlpha: hasAlpha).bitmap(channels: hasAlpha ? 4 : 3)
        if isDeep {
            let deep = try bitmap.vipsImage().apply("linear", ["a": [257], "b": [3]])
                .cast(to: .ushort).interpreted(as: .rgb16)
            bitmap = try Bitmap(rendering: deep)
        }
        let data = try encoded(bitmap, as: .JPEGXL, isLossless: true)
        #expect(try EncodedImage(data).header.depth == bitmap.depth)
        try Self.check(data, Self.sizes, quality: 45)
    }

    /// By libvips, which nothing else reads.
    @Test(arguments: [
        "TestImage.heic", "gradient-10b-srgb-opaque.heic", "gradient-10b-srgb-alpha.heic",
        "gradient-10b-displayp3-alpha.heic",
    ])
    func rowsOfHEICAreReducedAsFinely(_ name: String) throws {
        guard let file = Corpus.file("formats/\(name)") else { return }
        let data = try Data(contentsOf: file)
        try Self.check(data, [PixelSize(width: 60, height: 45)], quality: 45)
    }

    @Test func sequencesAreReducedAfterDecoding() throws {
        let grids = [Pixel.red, .green].map { PixelGrid.solid($0, width: 32, height: 24) }
        let data = try AVIFFixture().data(grids[0], grids[1])
        let size = PixelSize(width: 8, height: 6)
        #expect(try Self.reduced(data, size) == nil)
        let small = try Image.decoding(data).kf.downsampled(toPixels: size)
        #expect(try small.allBitmaps().map { $0.samples(3, 3) } == [[255, 0, 0], [0, 255, 0]])
    }

    @Test func picturesCanBeReducedAgainAndAgain() throws {
        let opened = try EncodedImage(Sample(name: "").fixture(depth: 8).data(Self.grid())).opened
        let reduction = Reduction(size: PixelSize(width: 30, height: 20), quality: .fast)
        let bitmaps = try (0..<3).map { _ in
            let pixels = try opened.decode(frame: 0, .exactly(reduction))
            return try Bitmap(rendering: #require(pixels).pipeline()).data
        }
        #expect(Set(bitmaps).count == 1)
    }

    @Test func theFullPictureTakesNoMemory() throws {
        let data = try Sample(name: "").fixture(depth: 8).data(Self.grid(width: 500, height: 400))
        func needed(_ image: Image) -> Int? {
            let error = #expect(throws: ImageCodingError.self) { try image.bitmap() }
            guard case .tooMuchMemory(let needed, _)? = error else { return nil }
            return needed
        }
        let image = try Image.decoding(
            data, options: ImageCreatingOptions(limits: DecodingLimits(maximumMemory: 1)))
        let small = image.kf.downsampled(toPixels: PixelSize(width: 50, height: 40))
        let (whole, least) = try (#require(needed(image)), #require(needed(small)))
        // Beside the small picture some of it is needed for the steps.
        #expect(whole - least > 3 * (500 * 400 - 3 * 50 * 40))
    }

    @Test func stopsWhatTakesTooLong() throws {
        let limit = Duration.nanoseconds(1)
        let files = [
            try AVIFFixture(depth: 8).data(Self.grid()),
            try AVIFFixture(depth: 10).data(Self.grid(hasAlpha: true)),
            try encoded(Self.grid().bitmap(channels: 3), as: .JPEGXL),
        ]
        for data in files {
            let image = try Image.decoding(
                data, options: ImageCreatingOptions(limits: DecodingLimits(maximumDuration: limit)))
            let small = image.kf.downsampled(toPixels: PixelSize(width: 40, height: 30))
            #expect(throws: ImageCodingError.tooSlow(limit: limit)) { try small.bitmap() }
        }
    }

    @Test func callsWhatIsCutShortDamaged() throws {
        let size = PixelSize(width: 20, height: 15)
        let avif = try AVIFFixture().data(.noise(width: 60, height: 45))
        let jxl = try encoded(.gradient(60, 45), as: .JPEGXL)
        for (data, format) in [(avif, ImageFormat.AVIF), (jxl, .JPEGXL)] {
            let error = #expect(throws: ImageCodingError.self) {
                try Image.decoding(data.dropLast()).kf.downsampled(toPixels: size).bitmap()
            }
            guard case .corrupt(format, _) = error else {
                Issue.record("not damaged: \(String(describing: error))")
                continue
            }
        }
    }
}

import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

struct VipsDecoderTests {
    @Test func readsEveryCommonFormat() {
        let readable = Set(ImageFormat.readable)
        #expect(readable.isSuperset(of: [.JPEG, .PNG, .GIF, .WebP, .BMP, .ICO]))
        #expect(!readable.contains(.unknown))
    }

    /// Upstream: testDecodingSupportsVariousPixelFormats,
    /// testDecodingRedrawsIndexedColorSpaceImageToDeviceRGB
    @Test(arguments: PNGFixture.Format.allCases)
    func readsEveryKindOfPNGExactly(_ kind: PNGFixture.Format) throws {
        let hasAlpha = [.grayAlpha8, .rgba8, .rgba16, .palette8].contains(kind)
        let isGrey = [.gray8, .gray16, .grayAlpha8].contains(kind)
        let grid = PixelGrid(width: 7, height: 5) { x, y in
            let level = UInt8(x * 30 + y)
            return Pixel(
                level, isGrey ? level : UInt8(y * 50), isGrey ? level : 77,
                hasAlpha ? UInt8(255 - y * 40) : 255)
        }
        let image = try Image.decoding(PNGFixture.data(grid, as: kind))
        let isDeep = [.gray16, .rgb16, .rgba16].contains(kind)
        #expect(image.depth == (isDeep ? .sixteen : .eight) && image.hasAlpha == hasAlpha)
        let bitmap = try image.bitmap()
        #expect(bitmap.depth == image.depth)
        #expect(try bitmap.greatestDifference(from: grid.bitmap(channels: hasAlpha ? 4 : 3)) == 0)
    }

    /// What is expected is resampled by Lanczos alone, in floating point.
    @Test(arguments: [(20, 16), (13, 10)])
    func reducesDeepPicturesWithOpacityFinely(_ width: Int, _ height: Int) throws {
        let grid = PixelGrid(width: 603, height: 481) { x, y in
            let rings = cos(Double(x * x + y * y) / 4000)
            let stripes = (x / 37 + y / 23) % 3 == 0 ? 60.0 : 0
            return Pixel(
                UInt8(110 + 70 * rings + stripes), UInt8(90 + x / 6), UInt8(40 + y / 4),
                UInt8(130 + 100 * rings))
        }
        let data = PNGFixture.data(grid, as: .rgba16)
        let bitmap = try decoded(data, at: PixelSize(width, height))
        #expect(bitmap.depth == .sixteen && bitmap.hasAlpha)
        let expected = try VipsImage.load("pngload_buffer", bytes: data).premultiplied()
            .resampledByLanczos(width, height).unpremultiplied().rounded(to: .ushort)
        #expect(try bitmap.peakSignalToNoise(Bitmap(rendering: expected)) >= 50)
    }

    @Test func readsInterlacedPNG() throws {
        let bitmap = try Bitmap.gradient(33, 21, channels: 4)
        let data = try bitmap.vipsImage().encoded("pngsave_buffer", ["interlace": true])
        #expect(try decoded(data).greatestDifference(from: bitmap) == 0)
    }

    @Test(arguments: [
        (UInt8(0xC1), UInt8(12), "it has 12 bits per sample, only 8 are read"),
        (0xC3, 8, "it is lossless JPEG"), (0xC7, 8, "it is hierarchical JPEG or JPEG-LS"),
    ])
    func refusesUnusualJPEGByItsFrameHeader(
        _ marker: UInt8, _ precision: UInt8, _ reason: String
    ) throws {
        var data = try encoded(.gradient(16, 16), as: .JPEG)
        let frame = try #require(data.firstRange(of: Data([0xFF, 0xC0])))
        data[frame.lowerBound + 1] = marker
        data[frame.lowerBound + 4] = precision
        #expect(throws: ImageCodingError.unsupported(.JPEG, reason: reason)) {
            try Image.decoding(data)
        }
    }

    @Test(arguments: 1...8)
    func appliesEXIFOrientationOfReducedJPEG(_ orientation: Int) throws {
        let stored = try Bitmap.gradient(80, 48)
        let data = EXIFFixture.turned(try encoded(stored, as: .JPEG), orientation)
        let shown = try Bitmap(
            rendering: stored.vipsImage().settingMetadata([("orientation", .int(orientation))])
                .orientationApplied())
        let least = PixelSize(shown.size.width / 4, shown.size.height / 4)
        let bitmap = try Self.reduced(data, from: shown.size, to: least)
        #expect(bitmap.size == least)
        for (x, y) in [(1, 1), (bitmap.size.width - 2, 1), (1, bitmap.size.height - 2)] {
            let difference = bitmap[x, y].vector - shown[x * 4 + 2, y * 4 + 2].vector
            #expect(abs(difference.x) < 0.05 && abs(difference.y) < 0.05)
        }
    }

    /// What libvips makes of a file when something smaller is enough.
    private static func reduced(
        _ data: Data, from size: PixelSize, to least: PixelSize
    ) throws -> Bitmap {
        let opened = try EncodedImage(data, decoder: .vips)
        #expect(opened.header.size == size)
        return try Bitmap(rendering: opened.decode(frame: 0, atLeast: least).pipeline())
    }

    @Test func reducesJPEGAsFarAsItMay() throws {
        let data = try encoded(.gradient(200, 200), as: .JPEG)
        for side in [200, 150, 100, 99, 50, 26, 25, 24, 1] {
            let bitmap = try Self.reduced(
                data, from: PixelSize(200, 200), to: PixelSize(side, side))
            let best = [25, 50, 100, 200].first { $0 >= side }!
            #expect(bitmap.size == PixelSize(best, best))
        }
    }

    @Test func reducesWebPAndSVGToWhatIsAsked() throws {
        let webp = try encoded(.gradient(300, 200), as: .WebP)
        let svg = Data("<svg xmlns='http://www.w3.org/2000/svg' width='300' height='200'/>".utf8)
        for (data, format) in [(webp, ImageFormat.WebP), (svg, .SVG)] {
            guard ImageDecoder.vips.canDecode(format) else { continue }
            let bitmap = try Self.reduced(data, from: PixelSize(300, 200), to: PixelSize(31, 20))
            #expect((31...33).contains(bitmap.size.width))
            #expect((20...22).contains(bitmap.size.height))
        }
    }
}

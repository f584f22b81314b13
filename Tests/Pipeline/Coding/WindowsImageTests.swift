import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// BMP and ICO, read by our own decoders.
struct WindowsImageTests {
    private let grid = PixelGrid(width: 5, height: 3) { x, y in
        Pixel(UInt8(x * 60), UInt8(y * 100), UInt8(200 - x * 9), UInt8(255 - y * 60))
    }

    /// A bitmap file of a 40-byte header.
    private func bmp(
        width: Int, height: Int, bits: Int, compression: Int = 0, masks: [Int] = [],
        palette: [[UInt8]] = [], pixels: [UInt8]
    ) -> Data {
        func little(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let extra = masks.flatMap { little($0, 4) } + palette.flatMap { $0 }
        var bytes: [UInt8] = Array("BM".utf8) + little(54 + extra.count + pixels.count, 4)
        bytes += little(0, 4) + little(54 + extra.count, 4)
        bytes += little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2)
        bytes += little(bits, 2) + little(compression, 4) + little(pixels.count, 4)
        bytes += little(2835, 4) + little(2835, 4) + little(palette.count, 4) + little(0, 4)
        return Data(bytes + extra + pixels)
    }

    private let blackWhiteRed: [[UInt8]] = [[0, 0, 0, 0], [255, 255, 255, 0], [0, 0, 255, 0]]

    @Test func readsColoursAndAlpha() throws {
        #expect(
            try decoded(BMPFixture.data(grid)).greatestDifference(from: grid.bitmap(channels: 3))
                == 0)
        let image = try Image.decoding(BMPFixture.data(grid, alpha: true))
        #expect(image.hasAlpha)
        #expect(try image.bitmap().greatestDifference(from: grid.bitmap(channels: 4)) == 0)
    }

    @Test func readsFromTheTopWhenTheHeightIsNegative() throws {
        let data = bmp(
            width: 1, height: -2, bits: 24, pixels: [1, 2, 3, 0, 4, 5, 6, 0])
        let bitmap = try decoded(data)
        #expect(bitmap.samples(0, 0) == [3, 2, 1])
        #expect(bitmap.samples(0, 1) == [6, 5, 4])
    }

    /// The offset points into a table whose length is stated, and the last row is not filled up.
    @Test func findsPixelsBehindTheColourTable() throws {
        var data = bmp(
            width: 3, height: 2, bits: 8, palette: blackWhiteRed,
            pixels: [2, 1, 0, 0, 0, 1, 2, 0])
        data[10] = 54
        for file in [data, data.dropLast()] {
            let bitmap = try decoded(file)
            #expect(bitmap.samples(0, 0) == [0, 0, 0])
            #expect(bitmap.samples(2, 0) == [255, 0, 0])
            #expect(bitmap.samples(0, 1) == [255, 0, 0])
        }
    }

    /// A table without a stated length ends where the pixels begin.
    @Test func trustsTheOffsetWhereTheTableHasNoLength() throws {
        var data = bmp(
            width: 3, height: 1, bits: 8, palette: blackWhiteRed, pixels: [2, 1, 0, 0])
        data[46] = 0
        #expect(try decoded(data).samples(0, 0) == [255, 0, 0])
        #expect(try decoded(data).samples(1, 0) == [255, 255, 255])
    }

    @Test func ignoresTheFourthByteOfPlainPixels() throws {
        let image = try Image.decoding(bmp(width: 1, height: 1, bits: 32, pixels: [1, 2, 3, 9]))
        #expect(!image.hasAlpha)
        #expect(try image.bitmap().samples(0, 0) == [3, 2, 1])
    }

    @Test func readsPalettesOfOneFourAndEightBits() throws {
        let one = bmp(
            width: 9, height: 1, bits: 1, palette: Array(blackWhiteRed.prefix(2)),
            pixels: [0b1010_0000, 0x80, 0, 0])
        let four = bmp(
            width: 3, height: 1, bits: 4, palette: blackWhiteRed, pixels: [0x12, 0x00, 0, 0])
        let eight = bmp(
            width: 3, height: 1, bits: 8, palette: blackWhiteRed, pixels: [2, 1, 200, 0])
        #expect(
            try (0..<9).map { try decoded(one).samples($0, 0)[0] } == [
                255, 0, 255, 0, 0, 0, 0, 0, 255,
            ])
        #expect(try decoded(four).samples(0, 0) == [255, 255, 255])
        #expect(try decoded(four).samples(1, 0) == [255, 0, 0])
        #expect(try decoded(eight).samples(0, 0) == [255, 0, 0])
        // An index without a colour is black.
        #expect(try decoded(eight).samples(2, 0) == [0, 0, 0])
    }

    @Test func reads16BitsWithAndWithoutMasks() throws {
        let plain = bmp(width: 2, height: 1, bits: 16, pixels: [0x00, 0x7C, 0x1F, 0x00])
        #expect(try decoded(plain).samples(0, 0) == [255, 0, 0])
        #expect(try decoded(plain).samples(1, 0) == [0, 0, 255])
        let masked = bmp(
            width: 2, height: 1, bits: 16, compression: 3, masks: [0xF800, 0x07E0, 0x001F],
            pixels: [0xE0, 0x07, 0x00, 0x84])
        #expect(try decoded(masked).samples(0, 0) == [0, 255, 0])
        #expect(try decoded(masked).samples(1, 0) == [132, 130, 0])
    }

    @Test func readsRunLengths() throws {
        let eight = bmp(
            width: 4, height: 2, bits: 8, compression: 1, palette: blackWhiteRed,
            pixels: [4, 1, 0, 0, 0, 3, 2, 1, 2, 0, 1, 1, 0, 1])
        let bitmap = try decoded(eight)
        #expect(
            (0..<4).map { bitmap.samples($0, 0) } == [
                [255, 0, 0], [255, 255, 255], [255, 0, 0], [255, 255, 255],
            ])
        #expect((0..<4).allSatisfy { bitmap.samples($0, 1) == [255, 255, 255] })
        let four = bmp(
            width: 4, height: 1, bits: 4, compression: 2, palette: blackWhiteRed,
            pixels: [3, 0x12, 1, 0x00, 0, 1])
        #expect(try (0..<4).map { try decoded(four).samples($0, 0)[1] } == [255, 0, 255, 0])
    }

    @Test func cutsOffRunsBelowAndBesideThePicture() throws {
        let data = bmp(
            width: 2, height: 2, bits: 8, compression: 1, palette: blackWhiteRed,
            pixels: [9, 1, 0, 0, 2, 2, 0, 0, 2, 1, 0, 2, 1, 9, 2, 1, 0, 1])
        let bitmap = try decoded(data)
        for x in 0..<2 {
            #expect(bitmap.samples(x, 1) == [255, 255, 255])
            #expect(bitmap.samples(x, 0) == [255, 0, 0])
        }
    }

    /// Right and up, with index 0 in what is passed over.
    @Test func stepsOverPixelsOfRuns() throws {
        let data = bmp(
            width: 3, height: 3, bits: 8, compression: 1, palette: blackWhiteRed,
            pixels: [1, 1, 0, 2, 1, 2, 1, 2, 0, 1])
        let bitmap = try decoded(data)
        #expect(bitmap.samples(0, 2) == [255, 255, 255])
        #expect(bitmap.samples(2, 0) == [255, 0, 0])
        let others = [(1, 2), (2, 2), (0, 1), (1, 1), (2, 1), (0, 0), (1, 0)]
        #expect(others.allSatisfy { bitmap.samples($0, $1) == [0, 0, 0] })
    }

    /// From the top, from the bottom, and in runs.
    @Test(arguments: [(1, false), (-1, false), (1, true)])
    func reducesWhileItDecodes(_ direction: Int, _ isInRuns: Bool) throws {
        let (width, height) = (120, 90)
        let palette: [[UInt8]] = (0..<256).map { [UInt8($0), UInt8(255 - $0), 90, 0] }
        func index(_ x: Int, _ y: Int) -> UInt8 { UInt8((x * 2 + y * y / 40) % 256) }
        var pixels: [UInt8] = []
        for row in 0..<height {
            let y = direction < 0 ? row : height - 1 - row
            let indices = (0..<width).map { index($0, y) }
            pixels += isInRuns ? indices.flatMap { [1, $0] } + [0, 0] : indices
        }
        let data = bmp(
            width: width, height: height * direction, bits: 8, compression: isInRuns ? 1 : 0,
            palette: palette, pixels: pixels + (isInRuns ? [0, 1] : []))
        let drawn = try Bitmap.drawn(width, height) { x, y in
            [90, 255 - index(x, y), index(x, y)]
        }
        let size = PixelSize(width: 16, height: 12)
        let found = try Image.decoding(data).kf.downsampled(toPixels: size).bitmap()
        let expected = try drawn.vipsImage().encoded("pngsave_buffer")
        #expect(
            try found.greatestDifference(
                from: Image.decoding(expected).kf.downsampled(toPixels: size).bitmap()) <= 1)
    }

    @Test func reportsBitmapsThatAreCutShortOrUnusual() throws {
        let short = bmp(width: 100, height: 100, bits: 24, pixels: [0, 0, 0])
        #expect(throws: ImageCodingError.corrupt(.BMP, reason: "it is cut short")) {
            try Image.decoding(short)
        }
        let huge = bmp(
            width: 1 << 30, height: 1 << 30, bits: 24, pixels: [0, 0, 0])
        #expect(throws: ImageCodingError.self) { try Image.decoding(huge) }
        let jpegInside = bmp(width: 1, height: 1, bits: 24, compression: 4, pixels: [0, 0, 0, 0])
        #expect(
            throws: ImageCodingError.unsupported(.BMP, reason: "its compression 4 is not read")
        ) { try Image.decoding(jpegInside) }
        let runs = bmp(
            width: 4, height: 2, bits: 8, compression: 1, palette: blackWhiteRed, pixels: [4, 1])
        #expect(throws: ImageCodingError.corrupt(.BMP, reason: "it is cut short")) {
            try Image.decoding(runs).bitmap()
        }
    }

    @Test(arguments: ICOFixture.Format.allCases)
    func readsTheLargestPictureOfAnIcon(_ format: ICOFixture.Format) throws {
        let small = PixelGrid.solid(.red, width: 2, height: 2)
        let data = ICOFixture.data([small, grid, small], as: format)
        let image = try Image.decoding(data)
        #expect(image.hasAlpha)
        #expect(image.pixelSize == PixelSize(width: 5, height: 3))
        #expect(try image.bitmap().greatestDifference(from: grid.bitmap(channels: 4)) == 0)
    }

    @Test func takesTransparencyFromTheMaskWhenPixelsHaveNone() throws {
        let clear = PixelGrid(width: 3, height: 2) { x, y in Pixel(9, 8, 7, 0) }
        var data = ICOFixture.data([clear], as: .bmp)
        // Two rows of mask, four bytes each, the bottom one first: the top left pixel is to be seen.
        data[data.count - 4] = 0x60
        let bitmap = try decoded(data)
        #expect(bitmap.samples(0, 0) == [9, 8, 7, 255])
        #expect(bitmap.samples(1, 0)[3] == 0)
        #expect(bitmap.samples(0, 1)[3] == 0)
    }
}

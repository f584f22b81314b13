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
        _ width: Int, _ height: Int, bits: Int, compression: Int = 0, masks: [Int] = [],
        palette: [[UInt8]] = [], _ pixels: [UInt8]
    ) -> Data {
        let extra = masks.flatMap { littleEndian($0, 4) } + palette.flatMap { $0 }
        func longs(_ values: Int...) -> [UInt8] { values.flatMap { littleEndian($0, 4) } }
        var bytes = Array("BM".utf8) + longs(54 + extra.count + pixels.count, 0, 54 + extra.count)
        bytes += longs(40, width, height) + littleEndian(1, 2) + littleEndian(bits, 2)
        bytes += longs(compression, pixels.count, 2835, 2835, palette.count, 0)
        return Data(bytes + extra + pixels)
    }

    private let blackWhiteRed: [[UInt8]] = [[0, 0, 0, 0], [255, 255, 255, 0], [0, 0, 255, 0]]
    private static let black: [UInt8] = [0, 0, 0], white: [UInt8] = [255, 255, 255]
    private static let red: [UInt8] = [255, 0, 0], blue: [UInt8] = [0, 0, 255]

    private func row(_ file: Data, _ y: Int = 0) throws -> [[UInt8]] {
        let bitmap = try decoded(file)
        return (0..<bitmap.size.width).map { bitmap.samples($0, y) }
    }

    @Test(arguments: [false, true]) func readsColoursAndAlpha(hasAlpha: Bool) throws {
        let bitmap = try decoded(BMPFixture.data(grid, alpha: hasAlpha))
        #expect(bitmap.hasAlpha == hasAlpha)
        #expect(try bitmap.greatestDifference(from: grid.bitmap(channels: bitmap.channels)) == 0)
    }

    @Test func readsFromTheTopWhenTheHeightIsNegative() throws {
        let data = bmp(1, -2, bits: 24, [1, 2, 3, 0, 4, 5, 6, 0])
        #expect(try row(data) == [[3, 2, 1]])
        #expect(try row(data, 1) == [[6, 5, 4]])
    }

    /// The offset points into a table whose length is stated, and the last row is not filled up.
    @Test func findsPixelsBehindTheColourTable() throws {
        var data = bmp(3, 2, bits: 8, palette: blackWhiteRed, [2, 1, 0, 0, 0, 1, 2, 0])
        data[10] = 54
        for file in [data, data.dropLast()] {
            #expect(try row(file) == [Self.black, Self.white, Self.red])
            #expect(try row(file, 1) == [Self.red, Self.white, Self.black])
        }
    }

    /// A table without a stated length ends where the pixels begin.
    @Test func trustsTheOffsetWhereTheTableHasNoLength() throws {
        var data = bmp(3, 1, bits: 8, palette: blackWhiteRed, [2, 1, 0, 0])
        data[46] = 0
        #expect(try row(data).prefix(2) == [Self.red, Self.white])
    }

    @Test func ignoresTheFourthByteOfPlainPixels() throws {
        #expect(try row(bmp(1, 1, bits: 32, [1, 2, 3, 9])) == [[3, 2, 1]])
    }

    @Test func readsPalettesOfOneFourAndEightBits() throws {
        let two = Array(blackWhiteRed.prefix(2))
        let one = bmp(9, 1, bits: 1, palette: two, [0b1010_0000, 0x80, 0, 0])
        #expect(try row(one).map { $0[0] } == [255, 0, 255, 0, 0, 0, 0, 0, 255])
        let four = bmp(3, 1, bits: 4, palette: blackWhiteRed, [0x12, 0x00, 0, 0])
        #expect(try row(four).prefix(2) == [Self.white, Self.red])
        // An index without a colour is black.
        let eight = bmp(3, 1, bits: 8, palette: blackWhiteRed, [2, 1, 200, 0])
        #expect(try row(eight) == [Self.red, Self.white, Self.black])
    }

    @Test func reads16BitsWithAndWithoutMasks() throws {
        let plain = bmp(2, 1, bits: 16, [0x00, 0x7C, 0x1F, 0x00])
        #expect(try row(plain) == [Self.red, Self.blue])
        let masked = bmp(
            2, 1, bits: 16, compression: 3, masks: [0xF800, 0x07E0, 0x001F],
            [0xE0, 0x07, 0x00, 0x84])
        #expect(try row(masked) == [[0, 255, 0], [132, 130, 0]])
    }

    @Test func readsRunLengths() throws {
        let eight = bmp(
            4, 2, bits: 8, compression: 1, palette: blackWhiteRed,
            [4, 1, 0, 0, 0, 3, 2, 1, 2, 0, 1, 1, 0, 1])
        #expect(try row(eight) == [Self.red, Self.white, Self.red, Self.white])
        #expect(try row(eight, 1) == [Self.white, Self.white, Self.white, Self.white])
        let four = bmp(
            4, 1, bits: 4, compression: 2, palette: blackWhiteRed, [3, 0x12, 1, 0x00, 0, 1])
        #expect(try row(four).map { $0[1] } == [255, 0, 255, 0])
    }

    @Test func cutsOffRunsBelowAndBesideThePicture() throws {
        let data = bmp(
            2, 2, bits: 8, compression: 1, palette: blackWhiteRed,
            [9, 1, 0, 0, 2, 2, 0, 0, 2, 1, 0, 2, 1, 9, 2, 1, 0, 1])
        #expect(try row(data, 1) == [Self.white, Self.white])
        #expect(try row(data) == [Self.red, Self.red])
    }

    /// Right and up, with index 0 in what is passed over.
    @Test func stepsOverPixelsOfRuns() throws {
        let data = bmp(
            3, 3, bits: 8, compression: 1, palette: blackWhiteRed, [1, 1, 0, 2, 1, 2, 1, 2, 0, 1])
        #expect(try row(data) == [Self.black, Self.black, Self.red])
        #expect(try row(data, 1) == [Self.black, Self.black, Self.black])
        #expect(try row(data, 2) == [Self.white, Self.black, Self.black])
    }

    /// From the top, from the bottom, and in runs.
    @Test(arguments: [(1, false), (-1, false), (1, true)])
    func reducesWhileItDecodes(_ direction: Int, _ isInRuns: Bool) throws {
        let (width, height) = (120, 90)
        let palette: [[UInt8]] = (0..<256).map { [UInt8($0), UInt8(255 - $0), 90, 0] }
        func index(_ x: Int, _ y: Int) -> UInt8 { UInt8((x * 2 + y * y / 40) % 256) }
        let pixels = (0..<height).flatMap { row -> [UInt8] in
            let indices = (0..<width).map { index($0, direction < 0 ? row : height - 1 - row) }
            return isInRuns ? indices.flatMap { [1, $0] } + [0, 0] : indices
        }
        let data = bmp(
            width, height * direction, bits: 8, compression: isInRuns ? 1 : 0, palette: palette,
            pixels + (isInRuns ? [0, 1] : []))
        let drawn = try Bitmap.drawn(width, height) { x, y in [90, 255 - index(x, y), index(x, y)] }
        let size = PixelSize(16, 12)
        let expected = try decoded(drawn.vipsImage().encoded("pngsave_buffer"), at: size)
        #expect(try decoded(data, at: size).greatestDifference(from: expected) <= 1)
    }

    @Test func reportsBitmapsThatAreCutShortOrUnusual() throws {
        let cut = ImageCodingError.corrupt(.BMP, reason: "it is cut short")
        #expect(throws: cut) { try Image.decoding(bmp(100, 100, bits: 24, [0, 0, 0])) }
        #expect(throws: ImageCodingError.self) {
            try Image.decoding(bmp(1 << 30, 1 << 30, bits: 24, [0, 0, 0]))
        }
        let jpegInside = bmp(1, 1, bits: 24, compression: 4, [0, 0, 0, 0])
        let unusual = ImageCodingError.unsupported(.BMP, reason: "its compression 4 is not read")
        #expect(throws: unusual) { try Image.decoding(jpegInside) }
        let runs = bmp(4, 2, bits: 8, compression: 1, palette: blackWhiteRed, [4, 1])
        #expect(throws: cut) { try decoded(runs) }
    }

    @Test(arguments: ICOFixture.Format.allCases)
    func readsTheLargestPictureOfAnIcon(_ format: ICOFixture.Format) throws {
        let small = PixelGrid.solid(.red, width: 2, height: 2)
        let bitmap = try decoded(ICOFixture.data([small, grid, small], as: format))
        #expect(try bitmap.greatestDifference(from: grid.bitmap(channels: 4)) == 0)
        #expect(bitmap.hasAlpha)
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

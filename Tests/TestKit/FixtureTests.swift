import Foundation
import Testing

@testable import HalcyonTestKit

@Suite struct ChecksumTests {
    /// The check values of the definitions of both sums.
    @Test func givesTheKnownValues() {
        #expect(Checksum.crc32("123456789".utf8) == 0xCBF4_3926)
        #expect(Checksum.crc32("IEND".utf8) == 0xAE42_6082)
        #expect(Checksum.adler32("Wikipedia".utf8) == 0x11E6_0398)
        #expect(Checksum.crc32([]) == 0)
        #expect(Checksum.adler32([]) == 1)
    }

    @Test(arguments: [0, 1, 65535, 65536, 200_000])
    func storesBytesInBlocks(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let blocks = max(1, (count + 65534) / 65535)
        let stored = StoredDeflate.raw(bytes)
        #expect(stored.count == count + 5 * blocks)
        #expect(StoredFile(zlib: StoredDeflate.zlib(bytes)[...])?.bytes == bytes)
    }
}

/// Reads back a zlib stream of stored blocks.
private struct StoredFile {
    var bytes: [UInt8] = []

    init?(zlib: ArraySlice<UInt8>) {
        var position = zlib.startIndex + 2
        var isLast = false
        while !isLast {
            isLast = zlib[position] == 1
            let length = Int(zlib[position + 1]) | Int(zlib[position + 2]) << 8
            let inverse = Int(zlib[position + 3]) | Int(zlib[position + 4]) << 8
            guard length ^ inverse == 0xFFFF else { return nil }
            bytes += zlib[position + 5..<position + 5 + length]
            position += 5 + length
        }
        let sum = zlib[position..<position + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        guard sum == Checksum.adler32(bytes), position + 4 == zlib.endIndex else { return nil }
    }
}

@Suite struct PNGFixtureTests {
    /// The chunks of a file, each with a correct checksum.
    private func chunks(_ data: Data) throws -> [(type: String, data: [UInt8])] {
        let bytes = Array(data)
        try #require(Array(bytes.prefix(8)) == [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10])
        var chunks: [(String, [UInt8])] = []
        var position = 8
        while position < bytes.count {
            let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            let checked = bytes[position + 4..<position + 8 + length]
            let sum = bytes[position + 8 + length..<position + 12 + length]
                .reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            try #require(sum == Checksum.crc32(checked))
            chunks.append(
                (String(decoding: checked.prefix(4), as: UTF8.self), Array(checked.dropFirst(4))))
            position += 12 + length
        }
        return chunks
    }

    @Test(arguments: [
        (PNGFixture.Format.gray8, [0, 10, 200]), (.grayAlpha8, [0, 10, 255, 200, 40]),
        (.rgb8, [0, 10, 20, 30, 200, 0, 1]), (.rgba8, [0, 10, 20, 30, 255, 200, 0, 1, 40]),
        (.gray16, [0, 10, 10, 200, 200]),
        (.rgb16, [0, 10, 10, 20, 20, 30, 30, 200, 200, 0, 0, 1, 1]),
        (.palette8, [0, 0, 1]),
    ])
    func storesSamplesInOrder(format: PNGFixture.Format, scanline: [Int]) throws {
        let grid = PixelGrid(width: 2, height: 1) { x, _ in
            x == 0 ? Pixel(10, 20, 30) : Pixel(200, 0, 1, 40)
        }
        let chunks = try chunks(PNGFixture.data(grid, as: format))
        let header = try #require(chunks.first)
        #expect(header.type == "IHDR")
        #expect(
            header.data == [0, 0, 0, 2, 0, 0, 0, 1, format.bitDepth, format.colorType, 0, 0, 0])
        let pixels = try #require(chunks.first { $0.type == "IDAT" })
        #expect(StoredFile(zlib: pixels.data[...])?.bytes == scanline.map(UInt8.init))
        #expect(chunks.last?.type == "IEND")
        if format == .palette8 {
            #expect(chunks[1].data == [10, 20, 30, 200, 0, 1])
            #expect(chunks[2].type == "tRNS")
            #expect(chunks[2].data == [255, 40])
        }
    }

    @Test func putsExtraChunksBeforeThePixels() throws {
        let density = PNGFixture.Chunk(type: "pHYs", data: Data([0, 0, 0, 1, 0, 0, 0, 2, 1]))
        let grid = PixelGrid.solid(.red, width: 1, height: 1)
        let types = try chunks(PNGFixture.data(grid, chunks: [density])).map(\.type)
        #expect(types == ["IHDR", "pHYs", "IDAT", "IEND"])
    }
}

@Suite struct GIFFixtureTests {
    @Test(arguments: [1, 253, 254, 255, 600, 5000])
    func canBeDecoded(count: Int) throws {
        let grid = PixelGrid(width: count, height: 1) { x, _ in Pixel(gray: UInt8(x % 256)) }
        let bytes = Array(GIFFixture.data(grid))
        // Header 13, graphic control 8, image descriptor 10, palette 768, code size 1.
        #expect(bytes[799] == 8)
        var position = 800
        var codes: [UInt8] = []
        while bytes[position] > 0 {
            let length = Int(bytes[position])
            codes += bytes[position + 1...position + length]
            position += length + 1
        }
        #expect(bytes[(position + 1)...] == [0x3B])
        #expect(decodeLZW(codes) == grid.pixels.map(\.red))
    }

    /// LZW as in appendix F of the GIF89a specification, for 8-bit symbols.
    private func decodeLZW(_ bytes: [UInt8]) -> [UInt8] {
        var table: [[UInt8]] = []
        var width = 9
        var previous: [UInt8]?
        var bit = 0
        var output: [UInt8] = []
        while bit + width <= bytes.count * 8 {
            let code = (0..<width).reduce(0) { code, offset in
                let place = bit + offset
                return code | Int(bytes[place / 8] >> UInt8(place % 8) & 1) << offset
            }
            bit += width
            if code == 257 { return output }
            if code == 256 {
                table = (0..<256).map { [UInt8($0)] } + [[], []]
                width = 9
                previous = nil
                continue
            }
            guard let last = previous else {
                output += table[code]
                previous = table[code]
                continue
            }
            let entry = code < table.count ? table[code] : last + [last[0]]
            table.append(last + [entry[0]])
            if table.count == 1 << width, width < 12 { width += 1 }
            output += entry
            previous = entry
        }
        return []
    }

    @Test func tellsFramesDelaysLoopsAndTransparency() {
        let bytes = Array(
            GIFFixture.data(
                [
                    GIFFixture.Frame(.solid(.red, width: 4, height: 3), delay: 7),
                    GIFFixture.Frame(
                        .solid(.clear, width: 2, height: 1), delay: 300,
                        disposal: .restorePrevious, left: 1, top: 2),
                ], loopCount: 5))
        #expect(Array(bytes[6..<10]) == [4, 0, 3, 0])
        let loop = Array("NETSCAPE2.0".utf8) + [3, 1, 5, 0, 0]
        #expect(bytes.firstRange(of: loop) != nil)
        let controls = bytes.indices.dropLast(8).filter { bytes[$0..<$0 + 3] == [0x21, 0xF9, 4] }
        #expect(controls.count == 2)
        #expect(bytes[controls[0]..<controls[0] + 8] == [0x21, 0xF9, 4, 0, 7, 0, 0, 0])
        #expect(bytes[controls[1]..<controls[1] + 8] == [0x21, 0xF9, 4, 0b1101, 44, 1, 0, 0])
        #expect(bytes[controls[1] + 8..<controls[1] + 17] == [0x2C, 1, 0, 2, 0, 2, 0, 1, 0])
    }
}

@Suite struct BitmapFixtureTests {
    private let grid = PixelGrid(width: 1, height: 2) { _, y in
        y == 0 ? Pixel(1, 2, 3, 4) : Pixel(5, 6, 7, 0)
    }

    @Test func storesBMPRowsFromTheBottomUp() {
        let opaque = Array(BMPFixture.data(grid))
        #expect(Array(opaque.prefix(6)) == [0x42, 0x4D, 62, 0, 0, 0])
        #expect(opaque.count == 62)
        #expect(Array(opaque.suffix(8)) == [7, 6, 5, 0, 3, 2, 1, 0])
        let transparent = Array(BMPFixture.data(grid, alpha: true))
        #expect(transparent.count == 14 + 108 + 8)
        #expect(Array(transparent.suffix(8)) == [7, 6, 5, 0, 3, 2, 1, 4])
    }

    @Test func wrapsPicturesInICO() {
        let png = Array(PNGFixture.data(grid))
        let icon = Array(ICOFixture.data([grid, grid]))
        #expect(Array(icon.prefix(8)) == [0, 0, 1, 0, 2, 0, 1, 2])
        #expect(Array(icon.suffix(2 * png.count)) == png + png)
        #expect(icon.count == 6 + 32 + 2 * png.count)

        let bitmap = Array(ICOFixture.data([grid], as: .bmp))
        #expect(bitmap.count == 6 + 16 + 40 + 8 + 8)
        // The height is doubled, and the mask marks the transparent bottom row.
        #expect(bitmap[22 + 8] == 4)
        #expect(Array(bitmap.suffix(8)) == [0x80, 0, 0, 0, 0, 0, 0, 0])
    }
}

@Suite struct PixelGridTests {
    @Test func drawsKnownPatterns() {
        let quadrants = PixelGrid.quadrants(width: 4, height: 2)
        #expect(quadrants.pixels == [.red, .red, .green, .green, .blue, .blue, .white, .white])
        let gradient = PixelGrid.gradient(width: 256, height: 2)
        #expect(gradient[255, 1] == Pixel(255, 255, 128))
        #expect(gradient[7, 0] == Pixel(7, 0, 128))
        let board = PixelGrid.checkerboard(side: 2, width: 4, height: 4)
        #expect(board[1, 1] == .black)
        #expect(board[2, 1] == .white)
        #expect(PixelGrid.noise(width: 9, height: 9) == .noise(width: 9, height: 9))
        #expect(PixelGrid.noise(width: 9, height: 9) != .noise(seed: 2, width: 9, height: 9))
    }
}

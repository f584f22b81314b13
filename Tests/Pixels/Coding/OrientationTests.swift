import DirectCodecs
import Foundation
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon
@testable import HalcyonPixels

/// Orientations as programs write them that are not exact about EXIF: as any kind of integer, and with more than one
/// value.
struct OrientationTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let type: Int
        let count: Int
        let isBigEndian: Bool
        var testDescription: String {
            "type \(type), \(count) values, \(isBigEndian ? "big" : "little") endian"
        }
    }

    static let kinds = [1, 3, 4, 6, 8, 9].flatMap { type in
        [1, 2, 5].flatMap { count in
            [false, true].map { Kind(type: type, count: count, isBigEndian: $0) }
        }
    }

    private static let grid = PixelGrid(width: 6, height: 3) { x, y in
        x < 3 ? .red : y == 0 ? .green : .blue
    }

    private static func block(_ kind: Kind, _ orientation: Int, prefix: Bool) -> Data {
        EXIFFixture.block(
            orientation: orientation, type: kind.type, count: kind.count,
            isBigEndian: kind.isBigEndian, prefix: prefix)
    }

    /// Files of all containers with this EXIF data.
    private static func files(_ kind: Kind, _ orientation: Int = 6) throws -> [Data] {
        let jpeg = try encoded(grid.bitmap(channels: 3), as: .JPEG)
        let bare = block(kind, orientation, prefix: false)
        let chunk = PNGFixture.Chunk(type: "eXIf", data: bare)
        return try [
            EXIFFixture.inserted(block(kind, orientation, prefix: true), into: jpeg),
            PNGFixture.data(grid, as: .rgb8, chunks: [chunk]),
            // Samples of 16 bits are left to libvips.
            PNGFixture.data(grid, as: .rgb16, chunks: [chunk]), webp(bare), tiff(kind, orientation),
        ]
    }

    private static func webp(_ block: Data) throws -> Data {
        let plain = try grid.bitmap(channels: 3).vipsImage()
            .settingMetadata([
                ("exif-data", .blob(EXIFFixture.block(orientation: 1, prefix: true)))
            ]).encoded("webpsave_buffer", ["lossless": true])
        let chunk = try #require(plain.lastRange(of: Data("EXIF".utf8))).upperBound
        var file = Data(plain[..<chunk]) + littleEndian(block.count, 4) + block
        if !block.count.isMultiple(of: 2) { file.append(0) }
        file.replaceSubrange(4..<8, with: littleEndian(file.count - 8, 4))
        return file
    }

    /// The block itself, with the tags of a picture of one strip.
    private static func tiff(_ kind: Kind, _ orientation: Int) -> Data {
        let number = kind.isBigEndian ? bigEndian : littleEndian
        let values = EXIFFixture.values(
            orientation, type: kind.type, count: kind.count, isBigEndian: kind.isBigEndian)
        let directory = 8 + 2 + 10 * 12 + 4
        let pixels = grid.pixels.flatMap(\.rgb)
        var bytes: [UInt8] = kind.isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]
        bytes += number(8, 4) + number(10, 2)
        for (tag, type, count, value) in [
            (256, 4, 1, 6), (257, 4, 1, 3), (258, 3, 3, directory), (259, 3, 1, 1), (262, 3, 1, 2),
            (273, 4, 1, directory + 32), (274, kind.type, kind.count, directory + 8),
            (277, 3, 1, 3), (278, 4, 1, 3), (279, 4, 1, pixels.count),
        ] {
            bytes += number(tag, 2) + number(type, 2) + number(count, 4)
            if tag == 274, values.count <= 4 {
                bytes += values + [UInt8](repeating: 0, count: 4 - values.count)
            } else if type == 3, count == 1 {
                bytes += number(value, 2) + [0, 0]
            } else {
                bytes += number(value, 4)
            }
        }
        bytes += number(0, 4) + [8, 8, 8].flatMap { number($0, 2) } + [0, 0] + values
        bytes += [UInt8](repeating: 0, count: directory + 32 - bytes.count)
        return Data(bytes + pixels)
    }

    @Test(arguments: kinds)
    func areObeyedInEveryContainer(_ kind: Kind) throws {
        for file in try Self.files(kind) {
            let information = try ImageInformation(of: file)
            let bitmap = try decoded(file)
            #expect(information.orientation == 6, "\(information.format)")
            #expect([information.size, bitmap.size] == [PixelSize(3, 6), PixelSize(3, 6)])
            // The stored left half is at the top, and its upper edge on the right.
            #expect(bitmap[1, 0].red > 0.8)
            #expect(bitmap[0, 5].blue > 0.8)
            #expect(bitmap[2, 5].green > 0.8 || information.format == .JPEG)
        }
    }

    @Test(arguments: [0, 9, 200], [1, 3, 4, 6])
    func thoseThatDoNotExistLeaveThePictureAsItIs(_ orientation: Int, _ type: Int) throws {
        for file in try Self.files(Kind(type: type, count: 1, isBigEndian: false), orientation) {
            let information = try ImageInformation(of: file)
            #expect(information.orientation == 1 && information.size == PixelSize(6, 3))
            #expect(try decoded(file).size == PixelSize(6, 3))
        }
    }

    /// As for decoders of PNG, metadata that is damaged says nothing, and of several blocks the first counts.
    @Test(arguments: [PNGFixture.Format.rgb8, .rgb16])
    func thoseOfDamagedAndSecondBlocksAreNotObeyed(_ format: PNGFixture.Format) throws {
        let chunks = [6, 1].map {
            PNGFixture.Chunk(type: "eXIf", data: EXIFFixture.block(orientation: $0, prefix: false))
        }
        let several = PNGFixture.data(Self.grid, as: format, chunks: chunks)
        var damaged = PNGFixture.data(Self.grid, as: format, chunks: [chunks[0]])
        let block = try #require(damaged.range(of: chunks[0].data))
        damaged[block.upperBound] ^= 1
        for (file, size) in [(several, PixelSize(3, 6)), (damaged, PixelSize(6, 3))] {
            #expect(try ImageInformation(of: file).size == size)
            #expect(try decoded(file).size == size)
        }
    }

    /// Pictures are written upright.
    @Test(arguments: kinds)
    func areTakenBackWhereMetadataIsKept(_ kind: Kind) throws {
        let block = Self.block(kind, 6, prefix: true)
        let upright = EXIFBlock.upright(block)
        #expect(upright.count == block.count)
        #expect(upright.withUnsafeBytes { EXIFBlock.orientation(in: $0) } == 1)
        #expect(block.withUnsafeBytes { EXIFBlock.orientation(in: $0) } == 6)
    }
}

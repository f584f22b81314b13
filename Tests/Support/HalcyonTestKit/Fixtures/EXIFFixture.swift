package import Foundation

/// Blocks of EXIF data written by hand.
package enum EXIFFixture {
    /// A little-endian block with an orientation and a position (a latitude reference and an artist's
    /// name, `secret`, that must not leak).
    package static func block(orientation: Int, prefix: Bool = true) -> Data {
        var bytes: [UInt8] = prefix ? Array("Exif".utf8) + [0, 0] : []
        bytes += [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 3, 0]
        bytes += entry(0x0112, type: 3, count: 1, value: orientation)
        // The text stands after this directory and that of the position.
        bytes += entry(0x013B, type: 2, count: 7, value: 68)
        bytes += entry(0x8825, type: 4, count: 1, value: 50)
        bytes += [0, 0, 0, 0, 1, 0]
        bytes += entry(0x0001, type: 2, count: 2, value: 0x4E)
        return Data(bytes + [0, 0, 0, 0] + Array("secret".utf8) + [0, 0])
    }

    /// A block with nothing but an orientation, as a kind of integer of TIFF 6.0 (1: BYTE, 3: SHORT, 4: LONG, 6, 8 and
    /// 9 with a sign) and with other values behind it.
    package static func block(
        orientation: Int, type: Int, count: Int = 1, isBigEndian: Bool = false, prefix: Bool = true
    ) -> Data {
        let number = isBigEndian ? bigEndian : littleEndian
        var values = Self.values(orientation, type: type, count: count, isBigEndian: isBigEndian)
        var behind: [UInt8] = []
        if values.count > 4 { (values, behind) = (number(26, 4), values) }
        values += [UInt8](repeating: 0, count: 4 - values.count)
        let start: [UInt8] = isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]
        let entry = number(0x0112, 2) + number(type, 2) + number(count, 4) + values
        let block = start + number(8, 4) + number(1, 2) + entry + number(0, 4) + behind
        return Data((prefix ? Array("Exif".utf8) + [0, 0] : []) + block)
    }

    /// The orientation and the values behind it.
    package static func values(_ orientation: Int, type: Int, count: Int, isBigEndian: Bool)
        -> [UInt8]
    {
        let length = [1: 1, 3: 2, 4: 4, 6: 1, 8: 2, 9: 4][type] ?? 1
        return (0..<count).flatMap {
            (isBigEndian ? bigEndian : littleEndian)($0 == 0 ? orientation : 3, length)
        }
    }

    /// `jpeg` with the block as its first segment.
    package static func inserted(_ block: Data, into jpeg: Data) -> Data {
        let length = block.count + 2
        return jpeg.prefix(2) + [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + block
            + jpeg.dropFirst(2)
    }

    /// `jpeg` turned by an orientation.
    package static func turned(_ jpeg: Data, _ orientation: Int) -> Data {
        inserted(block(orientation: orientation), into: jpeg)
    }

    /// The chunk of a PNG file with an orientation.
    package static func chunk(_ orientation: Int) -> PNGFixture.Chunk {
        PNGFixture.Chunk(type: "eXIf", data: block(orientation: orientation, prefix: false))
    }

    private static func entry(_ tag: Int, type: Int, count: Int, value: Int) -> [UInt8] {
        littleEndian(tag, 2) + littleEndian(type, 2) + littleEndian(count, 4)
            + littleEndian(value, 4)
    }
}

import Foundation

@testable import HalcyonPixels

extension FuzzTarget {
    /// A file or, with `isIcon`, what is in an icon.
    private static func read(_ bytes: UnsafeRawBufferPointer, isIcon: Bool) throws {
        let header = try BMPHeader(bytes, isIcon: isIcon)
        guard header.size.pixelCount <= mostPixels else { return }
        let picture = BMPPixels(bytes, header)
        var pixels = [UInt8](repeating: 0, count: header.size.pixelCount * picture.channels)
        try picture.decode(into: &pixels)
    }

    private static func header(bits: UInt8, compression: UInt8, palette: Int) -> [UInt8] {
        [40, 0, 0, 0, 8, 0, 0, 0, 6, 0, 0, 0, 1, 0, bits, 0, compression, 0, 0, 0]
            + [UInt8](repeating: 0, count: 12) + [UInt8(palette & 255), UInt8(palette >> 8), 0, 0]
            + [0, 0, 0, 0]
            + (0..<palette * 4).map { UInt8(truncatingIfNeeded: $0 * 7) }
    }

    /// Pictures and icons of Windows, told apart by how they begin.
    static let windows = FuzzTarget(
        "windows", seeds: { bitmapSeeds() + iconSeeds() }
    ) { data in
        guard data.first == 0 else {
            return try data.withUnsafeBytes { try read($0, isIcon: false) }
        }
        for entry in ICODirectory(data).entries {
            let start = data.startIndex
            let picture = data.subdata(
                in: start + entry.range.lowerBound..<start + entry.range.upperBound)
            try? picture.withUnsafeBytes { try read($0, isIcon: true) }
        }
    }

    private static func bitmapSeeds() -> [Data] {
        let kinds: [(UInt8, UInt8, Int, [UInt8])] = [
            (1, 0, 2, [UInt8](repeating: 0xA5, count: 24)),
            (4, 0, 16, [UInt8](repeating: 0x5A, count: 24)),
            (8, 0, 256, (0..<48).map { UInt8($0) }),
            (24, 0, 0, (0..<144).map { UInt8($0) }),
            (32, 0, 0, (0..<192).map { UInt8($0) }),
            (8, 1, 256, [8, 3, 0, 0, 0, 4, 1, 2, 3, 4, 2, 5, 0, 2, 1, 1, 3, 9, 0, 1]),
            (4, 2, 16, [8, 0x31, 0, 0, 0, 5, 0x12, 0x34, 0x50, 0, 0, 2, 1, 1, 3, 9, 0, 1]),
        ]
        return kinds.map { bits, compression, palette, pixels in
            let header = header(bits: bits, compression: compression, palette: palette)
            let offset = 14 + header.count
            return Data(
                Array("BM".utf8) + [0, 0, 0, 0, 0, 0, 0, 0]
                    + [UInt8(offset & 255), UInt8(offset >> 8), 0, 0] + header + pixels)
        }
    }

    private static func iconSeeds() -> [Data] {
        var picture = header(bits: 32, compression: 0, palette: 0)
        picture[8] = 12
        picture += (0..<216).map { UInt8($0) }
        return [
            Data(
                [
                    0, 0, 1, 0, 1, 0, 8, 6, 0, 0, 1, 0, 32, 0, UInt8(picture.count & 255),
                    UInt8(picture.count >> 8), 0, 0, 22, 0, 0, 0,
                ] + picture)
        ]
    }
}

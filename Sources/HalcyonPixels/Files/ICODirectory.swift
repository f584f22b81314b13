import Foundation

/// The table of pictures in a Windows icon.
struct ICODirectory {
    struct Entry: Equatable {
        let size: PixelSize
        let bitsPerPixel: Int
        let range: Range<Int>
    }

    /// The entries whose bytes are there, the largest and then deepest first.
    let entries: [Entry]

    /// Whether `bytes` begin like an icon: the fixed fields, and an entry that points past the table.
    static func looksPlausible(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let reader = ByteReader(bytes)
        guard reader.littleUInt32(0) == 0x0001_0000, let count = reader.littleUInt16(4), count > 0,
            reader.byte(9) == 0, let offset = reader.littleUInt32(18)
        else { return false }
        return Int(offset) >= 6 + 16 * count
    }

    init(_ data: Data) {
        entries = data.withUnsafeBytes { bytes in
            let reader = ByteReader(bytes)
            return (0..<(reader.littleUInt16(4) ?? 0))
                .compactMap { Self.entry(reader, at: 6 + 16 * $0) }
                .sorted {
                    ($0.size.pixelCount, $0.bitsPerPixel) > ($1.size.pixelCount, $1.bitsPerPixel)
                }
        }
    }

    private static func entry(_ reader: ByteReader, at offset: Int) -> Entry? {
        guard let width = reader.byte(offset), let height = reader.byte(offset + 1),
            let bits = reader.littleUInt16(offset + 6), let count = reader.littleUInt32(offset + 8),
            let start = reader.littleUInt32(offset + 12), count > 0,
            Int(start) + Int(count) <= reader.count
        else { return nil }
        return Entry(
            // A side of 256 does not fit and is written as 0.
            size: PixelSize(
                width: width == 0 ? 256 : Int(width), height: height == 0 ? 256 : Int(height)),
            bitsPerPixel: bits, range: Int(start)..<Int(start) + Int(count))
    }
}

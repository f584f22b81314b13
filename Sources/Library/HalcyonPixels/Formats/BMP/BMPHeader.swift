import DirectCodecs
import Foundation

/// The headers of a Windows bitmap, of a file or inside of an icon.
struct BMPHeader {
    enum Compression: UInt32 {
        case none = 0
        case rle8 = 1
        case rle4 = 2
        case bitFields = 3
        case alphaBitFields = 6
    }

    let size: PixelSize
    let bitsPerPixel: Int
    let compression: Compression
    let isTopDown: Bool
    /// Where the colour table begins, and how it is laid out.
    let paletteOffset: Int
    let paletteCount: Int
    let paletteEntrySize: Int
    let pixelOffset: Int
    /// The bits of red, green, blue and alpha in a pixel of 16 or 32 bits.
    let masks: [UInt32]

    var hasAlpha: Bool { masks[3] != 0 }
    /// Bytes from one stored row to the next, for uncompressed pixels.
    var rowSize: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }

    /// Bytes of a row that hold pixels.
    var usedRowSize: Int { (size.width * bitsPerPixel + 7) / 8 }

    private static let headerSizes: Set<UInt32> = [12, 16, 40, 52, 56, 64, 108, 124]
    /// Sides beyond this belong to no real file.
    private static let longestSide = 1 << 20

    /// Whether `bytes` begin like a bitmap file; more than its two letters is asked for.
    static func looksPlausible(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 18, bytes.starts(with: "BM".utf8) else { return false }
        return headerSizes.contains(ByteReader(bytes).littleUInt32(14) ?? 0)
    }

    /// Reads the headers.
    ///
    /// - Parameters:
    ///   - isIcon: Whether the first, smaller header is missing, the height counts the mask below the picture, and
    ///     32-bit pixels have alpha.
    ///   - checksLength: Whether the pixels have to be there.
    init(
        _ reader: ByteReader, isIcon: Bool, checksLength: Bool = true
    ) throws(CodecRefusal) {
        let start = isIcon ? 0 : 14
        guard let headerSize = reader.littleUInt32(start), Self.headerSizes.contains(headerSize)
        else { throw .damaged("it has no bitmap header") }
        let isCore = headerSize == 12
        guard let size = Self.size(reader, start: start, isCore: isCore),
            let bits = reader.littleUInt16(start + (isCore ? 10 : 14))
        else { throw .damaged("its header is cut short") }
        var height = size.height.magnitude
        if isIcon { height /= 2 }
        guard size.width > 0, height > 0, size.width <= Self.longestSide,
            height <= Self.longestSide
        else { throw .damaged("its size is \(size.width)×\(size.height)") }
        self.size = PixelSize(width: size.width, height: Int(height))
        isTopDown = size.height < 0
        bitsPerPixel = bits

        let code = headerSize >= 40 ? reader.littleUInt32(start + 16) ?? 0 : 0
        guard let compression = Compression(rawValue: code), headerSize != 64 || code < 3 else {
            throw .unusual("its compression \(code) is not read")
        }
        self.compression = compression
        switch (compression, bits) {
        case (.none, 1), (.none, 4), (.none, 8), (.none, 16), (.none, 24), (.none, 32): break
        case (.rle8, 8), (.rle4, 4): break
        case (.bitFields, 16), (.bitFields, 32): break
        case (.alphaBitFields, 16), (.alphaBitFields, 32): break
        default: throw .unusual("\(bits) bits per pixel with compression \(code) are not read")
        }

        var end = start + Int(headerSize)
        masks = try Self.masks(
            reader, start: start, headerSize: headerSize, compression: compression, bits: bits,
            isIcon: isIcon)
        if headerSize == 40 {
            end += compression == .bitFields ? 12 : compression == .alphaBitFields ? 16 : 0
        }
        paletteEntrySize = isCore ? 3 : 4
        paletteOffset = end
        let stated = headerSize >= 40 ? Int(reader.littleUInt32(start + 32) ?? 0) : 0
        var count = bits > 8 ? 0 : stated == 0 ? 1 << bits : min(stated, 1 << bits)
        if isIcon {
            pixelOffset = end + count * paletteEntrySize
        } else {
            guard let offset = reader.littleUInt32(10), Int(offset) >= end else {
                throw .damaged("its pixels lie inside of its header")
            }
            let colours = (Int(offset) - end) / paletteEntrySize
            if colours < count, stated == 0, colours > 0 {
                // A table whose length is not stated is as long as there is room.
                count = colours
            }
            // A stated table counts more than an offset into it, if there are pixels behind it.
            let behindTable = end + count * paletteEntrySize
            let used =
                (size.width * bits + 31) / 32 * 4 * Int(height - 1) + (size.width * bits + 7) / 8
            let isBehindTable =
                Int(offset) < behindTable
                && (compression != .none || behindTable + used <= reader.count)
            pixelOffset = isBehindTable ? behindTable : Int(offset)
        }
        paletteCount = count
        if checksLength { try checkLength(reader.count) }
    }

    /// Throws when the bytes cannot hold that many pixels, before memory is taken for them.
    private func checkLength(_ count: Int) throws(CodecRefusal) {
        switch compression {
        case .none, .bitFields, .alphaBitFields:
            // What fills up the last row may be missing.
            guard rowSize * (size.height - 1) + usedRowSize <= count - pixelOffset else {
                throw .damaged("it is cut short")
            }
        case .rle8, .rle4:
            // Two bytes make at most 255 pixels.
            guard pixelOffset < count, size.pixelCount <= (count - pixelOffset) * 256 else {
                throw .damaged("it is cut short")
            }
        }
    }

    private static func size(_ reader: ByteReader, start: Int, isCore: Bool) -> PixelSize? {
        if isCore {
            guard let width = reader.littleUInt16(start + 4),
                let height = reader.littleUInt16(start + 6)
            else { return nil }
            return PixelSize(width: width, height: height)
        }
        guard let width = reader.littleUInt32(start + 4),
            let height = reader.littleUInt32(start + 8)
        else { return nil }
        return PixelSize(
            width: Int(Int32(bitPattern: width)), height: Int(Int32(bitPattern: height)))
    }

    private static func masks(
        _ reader: ByteReader, start: Int, headerSize: UInt32, compression: Compression, bits: Int,
        isIcon: Bool
    ) throws(CodecRefusal) -> [UInt32] {
        switch compression {
        case .bitFields, .alphaBitFields:
            let hasAlphaMask = compression == .alphaBitFields || headerSize >= 56
            let masks = (0..<(hasAlphaMask ? 4 : 3)).compactMap {
                reader.littleUInt32(start + 40 + 4 * $0)
            }
            guard masks.count == (hasAlphaMask ? 4 : 3) else {
                throw .damaged("its header is cut short")
            }
            return hasAlphaMask ? masks : masks + [0]
        case .none where bits == 16:
            return [0x7C00, 0x03E0, 0x001F, 0]
        default:
            // The fourth byte of plain 32-bit pixels means nothing in a file.
            return [0x00FF_0000, 0x0000_FF00, 0x0000_00FF, isIcon && bits == 32 ? 0xFF00_0000 : 0]
        }
    }
}

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

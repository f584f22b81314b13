import DirectCodecs
import Foundation

/// The headers of a Windows bitmap, of a file or inside of an icon.
struct BMPHeader {
    enum Compression: Int {
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

    var usedRowSize: Int { (size.width * bitsPerPixel + 7) / 8 }

    private static let headerSizes: Set<Int> = [12, 16, 40, 52, 56, 64, 108, 124]
    /// Sides beyond this belong to no real file.
    private static let longestSide = 1 << 20

    /// Whether `bytes` begin like a bitmap file; more than its two letters is asked for.
    static func looksPlausible(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 18, bytes.starts(with: "BM".utf8) else { return false }
        return headerSizes.contains(bytes.littleEndian(14, 4) ?? 0)
    }

    /// Reads the headers.
    ///
    /// - Parameters:
    ///   - isIcon: Whether the first, smaller header is missing, the height counts the mask below the picture, and
    ///     32-bit pixels have alpha.
    ///   - checksLength: Whether the pixels have to be there.
    init(
        _ bytes: UnsafeRawBufferPointer, isIcon: Bool, checksLength: Bool = true
    ) throws(CodecRefusal) {
        let start = isIcon ? 0 : 14
        guard let headerSize = bytes.littleEndian(start, 4), Self.headerSizes.contains(headerSize)
        else { throw .damaged("it has no bitmap header") }
        let isCore = headerSize == 12
        guard let size = Self.size(bytes, start: start, isCore: isCore),
            let bits = bytes.littleEndian(start + (isCore ? 10 : 14), 2)
        else { throw .damaged("its header is cut short") }
        var height = size.height.magnitude
        if isIcon { height /= 2 }
        guard size.width > 0, height > 0, size.width <= Self.longestSide,
            height <= Self.longestSide
        else { throw .damaged("its size is \(size.width)×\(size.height)") }
        self.size = PixelSize(width: size.width, height: Int(height))
        isTopDown = size.height < 0
        bitsPerPixel = bits

        let code = headerSize >= 40 ? bytes.littleEndian(start + 16, 4) ?? 0 : 0
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

        var end = start + headerSize
        masks = try Self.masks(
            bytes, start: start, headerSize: headerSize, compression: compression, bits: bits,
            isIcon: isIcon)
        if headerSize == 40 {
            end += compression == .bitFields ? 12 : compression == .alphaBitFields ? 16 : 0
        }
        paletteEntrySize = isCore ? 3 : 4
        paletteOffset = end
        let stated = headerSize >= 40 ? bytes.littleEndian(start + 32, 4) ?? 0 : 0
        var count = bits > 8 ? 0 : stated == 0 ? 1 << bits : min(stated, 1 << bits)
        if isIcon {
            pixelOffset = end + count * paletteEntrySize
        } else {
            guard let offset = bytes.littleEndian(10, 4), offset >= end else {
                throw .damaged("its pixels lie inside of its header")
            }
            let colours = (offset - end) / paletteEntrySize
            if colours < count, stated == 0, colours > 0 {
                // A table whose length is not stated is as long as there is room.
                count = colours
            }
            // A stated table counts more than an offset into it, if there are pixels behind it.
            let behindTable = end + count * paletteEntrySize
            let used =
                (size.width * bits + 31) / 32 * 4 * Int(height - 1) + (size.width * bits + 7) / 8
            let isBehindTable =
                offset < behindTable
                && (compression != .none || behindTable + used <= bytes.count)
            pixelOffset = isBehindTable ? behindTable : offset
        }
        paletteCount = count
        if checksLength { try checkLength(bytes.count) }
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

    private static func size(
        _ bytes: UnsafeRawBufferPointer, start: Int, isCore: Bool
    ) -> PixelSize? {
        let length = isCore ? 2 : 4
        guard let width = bytes.littleEndian(start + 4, length),
            let height = bytes.littleEndian(start + 4 + length, length)
        else { return nil }
        // The long ones have a sign.
        return PixelSize(
            width: Int(Int32(truncatingIfNeeded: width)),
            height: Int(Int32(truncatingIfNeeded: height)))
    }

    private static func masks(
        _ bytes: UnsafeRawBufferPointer, start: Int, headerSize: Int, compression: Compression,
        bits: Int, isIcon: Bool
    ) throws(CodecRefusal) -> [UInt32] {
        switch compression {
        case .bitFields, .alphaBitFields:
            let hasAlphaMask = compression == .alphaBitFields || headerSize >= 56
            let masks = (0..<(hasAlphaMask ? 4 : 3)).compactMap {
                bytes.littleEndian(start + 40 + 4 * $0, 4).map { UInt32($0) }
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
        guard bytes.littleEndian(0, 4) == 0x0001_0000, let count = bytes.littleEndian(4, 2),
            count > 0, bytes.byte(at: 9) == 0, let offset = bytes.littleEndian(18, 4)
        else { return false }
        return offset >= 6 + 16 * count
    }

    init(_ data: Data) {
        entries = data.withUnsafeBytes { bytes in
            (0..<(bytes.littleEndian(4, 2) ?? 0))
                .compactMap { Self.entry(bytes, at: 6 + 16 * $0) }
                .sorted {
                    ($0.size.pixelCount, $0.bitsPerPixel) > ($1.size.pixelCount, $1.bitsPerPixel)
                }
        }
    }

    private static func entry(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Entry? {
        guard let width = bytes.byte(at: offset), let height = bytes.byte(at: offset + 1),
            let bits = bytes.littleEndian(offset + 6, 2),
            let count = bytes.littleEndian(offset + 8, 4),
            let start = bytes.littleEndian(offset + 12, 4), count > 0, start + count <= bytes.count
        else { return nil }
        return Entry(
            // A side of 256 does not fit and is written as 0.
            size: PixelSize(
                width: width == 0 ? 256 : Int(width), height: height == 0 ? 256 : Int(height)),
            bitsPerPixel: bits, range: start..<start + count)
    }
}

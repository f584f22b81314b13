/// Deflate streams made of stored (uncompressed) blocks, so that no compressor is needed.
public enum StoredDeflate {
    /// RFC 1951, section 3.2.4: blocks of at most 65,535 bytes, each behind its length.
    static func raw(_ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        for block in StoredBlocks.blocks(bytes, of: 0xFFFF) {
            writer.append(block.endIndex == bytes.count ? 1 : 0 as UInt8)
            writer.append(littleEndian: UInt16(block.count), ~UInt16(block.count))
            writer.append(block)
        }
        return writer.bytes
    }

    /// RFC 1950: header, deflate stream, Adler-32.
    static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append([0x78, 0x01])
        writer.append(raw(bytes))
        writer.append(bigEndian: Checksum.adler32(bytes))
        return writer.bytes
    }

    /// RFC 1952: header without name or time, deflate stream, CRC-32, length modulo 2³².
    public static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
        writer.append(raw(bytes))
        writer.append(littleEndian: Checksum.crc32(bytes), UInt32(truncatingIfNeeded: bytes.count))
        return writer.bytes
    }
}

/// Other compressed forms made of stored blocks.
enum StoredBlocks {
    /// At least one.
    static func blocks(_ bytes: [UInt8], of length: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: max(1, bytes.count), by: length)
            .map { bytes[$0..<min($0 + length, bytes.count)] }
    }

    /// RFC 7932: meta-blocks of at most 65,536 bytes that are not compressed, and an empty last one.
    static func brotli(_ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        for block in blocks(bytes, of: 0x10000) where !block.isEmpty {
            // Not the last one; four digits of length; the length less one; not compressed.
            var bits = UInt32(block.count - 1) << 3 | 1 << 19
            // Before the first one a bit that says how long the window is: 64 KiB.
            if block.startIndex == 0 { bits <<= 1 }
            writer.append([UInt8(bits & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits >> 16)])
            writer.append(block)
        }
        writer.append(bytes.isEmpty ? 0x06 : 0x03 as UInt8)
        return writer.bytes
    }

    /// RFC 8878: a frame that says its length, of blocks of at most 65,536 bytes.
    static func zstandard(_ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append([0x28, 0xB5, 0x2F, 0xFD])
        // A single segment with a length of four bytes.
        writer.append(0xA0 as UInt8)
        writer.append(littleEndian: UInt32(bytes.count))
        for block in blocks(bytes, of: 0x10000) {
            let header = UInt32(block.count) << 3 | (block.endIndex == bytes.count ? 1 : 0)
            writer.append([UInt8(header & 0xFF), UInt8(header >> 8 & 0xFF), UInt8(header >> 16)])
            writer.append(block)
        }
        return writer.bytes
    }
}

/// The checksums of the gzip, zlib and PNG formats.
enum Checksum {
    private static let crcTable: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in
            crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1
        }
    }

    /// CRC-32 as in PNG (annex D) and RFC 1952, section 8.
    static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(0xFFFF_FFFF as UInt32) { crc, byte in
            crcTable[Int((crc ^ UInt32(byte)) & 0xFF)] ^ (crc >> 8)
        }
    }

    /// Adler-32 as in RFC 1950, section 9.
    static func adler32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in bytes {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return high << 16 | low
    }
}

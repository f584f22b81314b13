/// Deflate streams made of stored (uncompressed) blocks, so that no compressor is needed.
enum StoredDeflate {
    /// RFC 1951, section 3.2.4: blocks of at most 65,535 bytes, each behind its length.
    static func raw(_ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        var start = 0
        repeat {
            let end = min(start + 0xFFFF, bytes.count)
            let length = UInt16(end - start)
            writer.append(end == bytes.count ? 1 : 0 as UInt8)
            writer.append(littleEndian: length)
            writer.append(littleEndian: ~length)
            writer.append(bytes[start..<end])
            start = end
        } while start < bytes.count
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
    static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255])
        writer.append(raw(bytes))
        writer.append(littleEndian: Checksum.crc32(bytes))
        writer.append(littleEndian: UInt32(truncatingIfNeeded: bytes.count))
        return writer.bytes
    }
}

import CCodecs

extension [UInt8] {
    mutating func append(bigEndian value: UInt32) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    mutating func append(bigEndian value: UInt16) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends a chunk of a PNG file (ISO/IEC 15948, section 5.3) with the data that `write` appends.
    mutating func appendChunk(_ name: StaticString, _ write: (inout [UInt8]) -> Void) {
        let start = count
        append(contentsOf: [0, 0, 0, 0])
        name.withUTF8Buffer { append(contentsOf: $0) }
        write(&self)
        let length = UInt32(count - start - 8)
        for index in 0..<4 {
            self[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(index)))
        }
        let checksum = withUnsafeBytes { bytes in
            UnsafeRawBufferPointer(rebasing: bytes[(start + 4)...]).crc32
        }
        append(bigEndian: checksum)
    }

    /// Appends the first chunk of a file of 8 bits a sample, RGB or RGBA.
    mutating func appendHeader(width: Int, height: Int, channels: Int) {
        appendChunk("IHDR") { header in
            header.append(bigEndian: UInt32(width))
            header.append(bigEndian: UInt32(height))
            header.append(contentsOf: [8, channels == 4 ? 6 : 2, 0, 0, 0])
        }
    }
}

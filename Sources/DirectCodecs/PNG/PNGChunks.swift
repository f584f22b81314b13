import CPNG

/// The chunks of a PNG file (ISO/IEC 15948, section 5), one after the other.
struct PNGChunks {
    struct Chunk {
        /// Four ASCII letters as a big-endian number.
        let type: UInt32
        /// Where its data is in the file.
        let range: Range<Int>

        /// Whether decoders that do not know the chunk must not show the picture.
        var isCritical: Bool { type & 0x2000_0000 == 0 }
    }

    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    /// The chunks of a file from its first one on.
    init(_ bytes: UnsafeRawBufferPointer) throws(PNGRefusal) {
        guard bytes.starts(with: Self.signature) else { throw .damaged("it has no signature") }
        self.init(bytes, offset: Self.signature.count)
    }

    /// The chunks from `offset` on, where one begins.
    init(_ bytes: UnsafeRawBufferPointer, offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// The next chunk. The file ends with one, so that one more must be there.
    mutating func next() throws(PNGRefusal) -> Chunk {
        // Length and type before the data, a checksum after it.
        guard bytes.count - offset >= 12 else { throw .damaged("it is cut short") }
        let length = Int(bytes.bigUInt32(offset))
        guard length <= bytes.count - offset - 12 else { throw .damaged("it is cut short") }
        let start = offset + 8
        offset = start + length + 4
        return Chunk(type: bytes.bigUInt32(start - 4), range: start..<start + length)
    }

    /// The next chunk; `nil` where the file ends behind one, within a checksum, or within pixels, of which
    /// decoders show what is there.
    mutating func nextUnlessAtEnd() throws(PNGRefusal) -> Chunk? {
        let left = bytes.count - offset - 8
        guard left >= 0 else { return nil }
        let length = Int(bytes.bigUInt32(offset))
        if length > left - 4, length <= left || bytes.bigUInt32(offset + 4) == UInt32(chunk: "IDAT")
        {
            return nil
        }
        return try next()
    }

    /// Throws when a chunk's checksum is not that of its type and data.
    func verify(_ chunk: Chunk) throws(PNGRefusal) {
        let checked = bytes[chunk.range.lowerBound - 4..<chunk.range.upperBound]
        let stored = bytes.bigUInt32(chunk.range.upperBound)
        guard UnsafeRawBufferPointer(rebasing: checked).crc32 == stored else {
            throw .wrongChecksum
        }
    }
}

extension UInt32 {
    /// The name of a chunk.
    init(chunk name: StaticString) {
        self = name.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
    }
}

extension UnsafeRawBufferPointer {
    /// The big-endian number at an offset at which there are four bytes.
    func bigUInt32(_ offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    func bigUInt16(_ offset: Int) -> UInt16 {
        UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    }

    /// The checksum of PNG chunks.
    var crc32: UInt32 {
        cpng_crc32(0, baseAddress?.assumingMemoryBound(to: UInt8.self), count)
    }
}

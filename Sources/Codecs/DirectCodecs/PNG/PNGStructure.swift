import CCodecs

/// The chunks of a PNG file, walked before any decoder sees them: a decoder may take as much memory as a
/// chunk claims to be long, or as a stream in it inflates to.
package struct PNGStructure: Equatable, Sendable {
    /// Width and height in pixels, as stored.
    package let width: Int
    package let height: Int
    /// Bits per sample, and samples per pixel as stored.
    package let depth: Int
    package let samples: Int
    /// Whether samples are places in a palette.
    package let isIndexed: Bool
    /// Whether the rows come in seven passes.
    package let isInterlaced: Bool

    /// The most bytes that all compressed texts and profiles of a file give when they are inflated.
    package static let largestMetadata = 16 << 20
    /// Deflate makes at most so many bytes of one.
    private static let mostInflation = 1032

    /// Walks the chunks up to the end of the image; nothing is inflated that cannot be too large.
    ///
    /// - Throws: When a chunk is longer than the rest of the file, or when ``largestMetadata`` is exceeded.
    ///   What else may be wrong with the file is left to decoders.
    package init(_ bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        var chunks = try PNGChunks(bytes)
        let header = try chunks.header()
        (width, height) = (header.width, header.height)
        let content = header.chunk.content
        depth = Int(content[8])
        let type = PNGFile.ColourType(rawValue: content[9])
        samples = type?.samples ?? 4
        isIndexed = type == .palette
        isInterlaced = content[12] != 0

        var streams: [UnsafeRawBufferPointer] = []
        while let chunk = try chunks.nextUnlessAtEnd(), chunk.type != UInt32(chunk: "IEND") {
            if let stream = Self.stream(of: chunk) { streams.append(stream) }
        }
        try Self.checkInflated(streams)
    }

    /// Bytes of all rows as stored, with their filters.
    package var streamBytes: Int {
        let (bits, isWide) = width.multipliedReportingOverflow(by: samples * depth)
        let (bytes, isLarge) = ((bits + 7) / 8 + 1).multipliedReportingOverflow(by: height)
        return isWide || isLarge ? .max : bytes
    }

    /// The zlib stream in a chunk of metadata; `nil` for other chunks, and where none can be found.
    private static func stream(of chunk: PNGChunks.Chunk) -> UnsafeRawBufferPointer? {
        let (content, type) = (chunk.content, chunk.type)
        let isText = type == UInt32(chunk: "iTXt")
        guard isText || type == UInt32(chunk: "zTXt") || type == UInt32(chunk: "iCCP"),
            let keyword = content.prefix(80).firstIndex(of: 0)
        else { return nil }
        // Behind the keyword: the kind of compression; in iTXt whether there is any before that, and two
        // more texts behind it, each with a zero.
        guard isText else {
            return keyword + 2 < content.count
                ? UnsafeRawBufferPointer(rebasing: content[(keyword + 2)...]) : nil
        }
        guard keyword + 3 < content.count, content[keyword + 1] != 0,
            let language = content[(keyword + 3)...].firstIndex(of: 0),
            let translated = content[(language + 1)...].firstIndex(of: 0)
        else { return nil }
        return UnsafeRawBufferPointer(rebasing: content[(translated + 1)...])
    }

    private static func checkInflated(_ streams: [UnsafeRawBufferPointer]) throws(CodecRefusal) {
        let stored = streams.reduce(0) { $0 + $1.count }
        // So few bytes cannot give too many; ordinary files end here.
        guard stored > largestMetadata / mostInflation else { return }
        let output = UnsafeMutablePointer<UInt8>.allocate(capacity: largestMetadata)
        defer { output.deallocate() }
        var room = largestMetadata
        for stream in streams {
            let stored = stream.assumingMemoryBound(to: UInt8.self)
            var size = 0
            switch cpng_inflate(stored.baseAddress, stored.count, output, room, &size) {
            case CPNG_OK: room -= size
            case CPNG_TOO_LONG:
                throw .unusual(
                    "its texts and profiles take more than \(largestMetadata >> 20) MiB inflated")
            case CPNG_NO_MEMORY: throw .outOfMemory
            // Decoders pass over metadata that is damaged. Up to the damage it may be long, though: in
            // the worst case as long as such a stream can be.
            default: room -= min(room, stored.count * mostInflation)
            }
        }
    }
}

/// The chunks of a PNG file (ISO/IEC 15948, section 5), one after the other.
struct PNGChunks {
    struct Chunk {
        /// Four ASCII letters as a big-endian number.
        let type: UInt32
        let range: Range<Int>
        let content: UnsafeRawBufferPointer

        /// With length and type, and the checksum behind it.
        var whole: Range<Int> { range.lowerBound - 8..<range.upperBound + 4 }

        /// Whether decoders that do not know the chunk must not show the picture.
        var isCritical: Bool { type & 0x2000_0000 == 0 }
    }

    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int

    init(_ bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        guard bytes.starts(with: Self.signature) else { throw .damaged("it has no signature") }
        self.init(bytes, offset: Self.signature.count)
    }

    /// The chunks from `offset` on, where one begins.
    init(_ bytes: UnsafeRawBufferPointer, offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// The first chunk of a file, which must be the header, and the size in it.
    mutating func header() throws(CodecRefusal) -> (chunk: Chunk, width: Int, height: Int) {
        let chunk = try next()
        guard chunk.type == UInt32(chunk: "IHDR"), chunk.range.count == 13 else {
            throw .damaged("it has no header")
        }
        return (chunk, Int(chunk.content.bigUInt32(0)), Int(chunk.content.bigUInt32(4)))
    }

    /// The next chunk. The file ends with one, so that one more must be there.
    mutating func next() throws(CodecRefusal) -> Chunk {
        // Length and type before the data, a checksum after it.
        guard bytes.count - offset >= 12 else { throw .damaged("it is cut short") }
        let length = Int(bytes.bigUInt32(offset))
        guard length <= bytes.count - offset - 12 else { throw .damaged("it is cut short") }
        let start = offset + 8
        offset = start + length + 4
        return Chunk(
            type: bytes.bigUInt32(start - 4), range: start..<start + length,
            content: UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
    }

    /// The next chunk; `nil` where the file ends behind one, within a checksum, or within pixels, of which
    /// decoders show what is there.
    mutating func nextUnlessAtEnd() throws(CodecRefusal) -> Chunk? {
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
    func verify(_ chunk: Chunk) throws(CodecRefusal) {
        guard isIntact(chunk) else { throw .wrongChecksum }
    }

    /// Whether a chunk's checksum is that of its type and data.
    func isIntact(_ chunk: Chunk) -> Bool {
        let checked = bytes[chunk.range.lowerBound - 4..<chunk.range.upperBound]
        return UnsafeRawBufferPointer(rebasing: checked).crc32
            == bytes.bigUInt32(chunk.range.upperBound)
    }
}

extension UInt32 {
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

    package var crc32: UInt32 {
        cpng_crc32(0, baseAddress?.assumingMemoryBound(to: UInt8.self), count)
    }
}

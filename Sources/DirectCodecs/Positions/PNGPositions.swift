import Foundation

/// The positions in the chunks of a PNG file: EXIF in `eXIf`, XMP in `iTXt`, and both in text chunks
/// of the kind that ImageMagick writes.
struct PNGPositions {
    private var edits: [ByteEdit] = []
    /// Chunks that are left out.
    private var dropped: [Range<Int>] = []

    /// - Throws: When the file ends in the middle of a chunk.
    init(in bytes: UnsafeRawBufferPointer) throws(PNGRefusal) {
        var chunks = try PNGChunks(bytes)
        var chunk = try chunks.next()
        while chunk.type != UInt32(chunk: "IEND") {
            look(at: chunk, in: bytes)
            chunk = try chunks.next()
        }
    }

    /// The file without them.
    func removed(from file: Data) -> Data {
        var result = file.applying(edits)
        for range in dropped.reversed() { result.removeSubrange(range) }
        return result
    }

    private mutating func look(at chunk: PNGChunks.Chunk, in bytes: UnsafeRawBufferPointer) {
        let data = UnsafeRawBufferPointer(rebasing: bytes[chunk.range])
        switch chunk.type {
        case UInt32(chunk: "eXIf"):
            let header = data.hasText("Exif\0\0", at: 0) ? 6 : 0
            replace(GPSDirectory.edits(in: data, header: header), of: chunk, in: bytes)
        case UInt32(chunk: "iTXt") where data.hasText("XML:com.adobe.xmp\0\0", at: 0):
            replace(XMPPositions.edits(in: data), of: chunk, in: bytes)
        case UInt32(chunk: "iTXt") where data.hasText("XML:com.adobe.xmp\0", at: 0),
            UInt32(chunk: "iTXt") where data.hasText("Raw profile type ", at: 0),
            UInt32(chunk: "tEXt") where data.hasText("Raw profile type ", at: 0),
            UInt32(chunk: "zTXt") where data.hasText("Raw profile type ", at: 0):
            if Self.isColour(data) { return }
            // With its length, type and checksum.
            dropped.append(chunk.range.lowerBound - 8..<chunk.range.upperBound + 4)
        default: break
        }
    }

    /// Edits the data of a chunk, and its checksum.
    private mutating func replace(
        _ edits: [ByteEdit], of chunk: PNGChunks.Chunk, in bytes: UnsafeRawBufferPointer
    ) {
        if edits.isEmpty { return }
        let checked = Data(bytes[chunk.range.lowerBound - 4..<chunk.range.upperBound]).applying(
            edits.map { ByteEdit($0.range.lowerBound + 4..<$0.range.upperBound + 4, $0.bytes) })
        let sum = checked.withUnsafeBytes { $0.crc32 }.bigEndian
        let end = chunk.range.upperBound
        self.edits.append(
            ByteEdit(chunk.range.lowerBound - 4..<end, Array(checked)))
        self.edits.append(ByteEdit(end..<end + 4, withUnsafeBytes(of: sum) { Array($0) }))
    }

    /// Whether it is a colour profile, which decides what the picture looks like.
    private static func isColour(_ data: UnsafeRawBufferPointer) -> Bool {
        data.hasText("Raw profile type icc", at: 0) || data.hasText("Raw profile type icm", at: 0)
    }
}

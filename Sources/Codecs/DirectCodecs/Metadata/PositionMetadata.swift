public import Foundation

/// The metadata about the place where a picture was taken: the GPS directory of EXIF data, and the
/// GPS properties of XMP.
public enum PositionMetadata {
    /// The file without position metadata; the pixels stay as they are to the bit, and so does all
    /// other metadata.
    ///
    /// Removed data is overwritten in place, in every format that stores EXIF and XMP uncompressed:
    /// JPEG, WebP, TIFF, HEIC, AVIF, JPEG XL and others. From a PNG file, text chunks with
    /// compressed XMP or EXIF are dropped as a whole. Compressed metadata of other formats stays.
    ///
    /// A pass over the bytes, and one more for each that removed something: in XMP that is no well-formed
    /// XML, what is overwritten may have hidden another property. A copy is made only when there is something
    /// to remove.
    public static func removed(from file: Data) -> Data {
        var file = file
        for _ in 0..<mostPasses {
            guard let rest = lessened(file) else { break }
            file = rest
        }
        return file
    }

    /// Enough for whatever is well-formed, and a bound for what was made to need many.
    private static let mostPasses = 8

    /// The file without the positions found in one pass; `nil` when there are none.
    private static func lessened(_ file: Data) -> Data? {
        file.withUnsafeBytes { bytes in
            if bytes.starts(with: PNGChunks.signature) {
                // A file that ends in the middle of a chunk has been shown, and is kept, as it is.
                return (try? PNGPositions(in: bytes))?.removed(from: file)
            }
            return removedInPlace(file, bytes)
        }
    }

    private static func removedInPlace(_ file: Data, _ bytes: UnsafeRawBufferPointer) -> Data? {
        let directories = [[0x49, 0x49, 0x2A, 0], [0x4D, 0x4D, 0, 0x2A]].flatMap {
            bytes.places(of: $0)
        }
        let edits =
            directories.flatMap { GPSDirectory.edits(in: bytes, header: $0) }
            + XMPPositions.edits(in: bytes)
        return edits.isEmpty ? nil : file.applying(edits)
    }
}

/// Bytes that take the place of as many others.
struct ByteEdit {
    let range: Range<Int>
    let bytes: [UInt8]

    init(_ range: Range<Int>, _ bytes: [UInt8]) {
        self.range = range
        self.bytes = bytes
    }

    init(_ range: Range<Int>, filling byte: UInt8) {
        self.init(range, Array(repeating: byte, count: range.count))
    }
}

extension Data {
    func applying(_ edits: [ByteEdit]) -> Data {
        var result = Data(self)
        for edit in edits { result.replaceSubrange(edit.range, with: edit.bytes) }
        return result
    }
}

extension UnsafeRawBufferPointer {
    /// Where `pattern` begins, in ascending order; not more than `limit` places.
    package func places(of pattern: [UInt8], atMost limit: Int = 1000) -> [Int] {
        var places: [Int] = []
        var offset = 0
        while let base = baseAddress, places.count < limit, count - offset >= pattern.count,
            let found = memchr(base + offset, Int32(pattern[0]), count - offset)
        {
            let place = UnsafeRawPointer(found) - base
            offset = place + 1
            if self[place...].starts(with: pattern) { places.append(place) }
        }
        return places
    }
}

/// The positions in the chunks of a PNG file: EXIF in `eXIf`, XMP in `iTXt`, and both in text chunks
/// of the kind that ImageMagick writes.
struct PNGPositions {
    private var edits: [ByteEdit] = []
    private var dropped: [Range<Int>] = []

    /// - Throws: When the file ends in the middle of a chunk.
    init(in bytes: UnsafeRawBufferPointer) throws(CodecRefusal) {
        var chunks = try PNGChunks(bytes)
        var chunk = try chunks.next()
        while chunk.type != UInt32(chunk: "IEND") {
            look(at: chunk, in: bytes)
            chunk = try chunks.next()
        }
    }

    /// The file without them; `nil` when there are none.
    func removed(from file: Data) -> Data? {
        edits.isEmpty && dropped.isEmpty ? nil : file.applying(edits).without(dropped)
    }

    private mutating func look(at chunk: PNGChunks.Chunk, in bytes: UnsafeRawBufferPointer) {
        let data = chunk.content
        switch chunk.type {
        case UInt32(chunk: "eXIf"):
            let header = data.hasText("Exif\0\0") ? 6 : 0
            replace(GPSDirectory.edits(in: data, header: header), of: chunk, in: bytes)
        case UInt32(chunk: "iTXt") where data.hasText("XML:com.adobe.xmp\0\0"):
            replace(XMPPositions.edits(in: data), of: chunk, in: bytes)
        case UInt32(chunk: "iTXt") where data.hasText("XML:com.adobe.xmp\0"),
            UInt32(chunk: "iTXt") where data.hasText("Raw profile type "),
            UInt32(chunk: "tEXt") where data.hasText("Raw profile type "),
            UInt32(chunk: "zTXt") where data.hasText("Raw profile type "):
            // A colour profile decides what the picture looks like.
            if data.hasText("Raw profile type icc") || data.hasText("Raw profile type icm") {
                return
            }
            dropped.append(chunk.whole)
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
}

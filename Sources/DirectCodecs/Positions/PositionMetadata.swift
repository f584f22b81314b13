public import Foundation

/// What image files tell of the place where a picture was taken: the GPS directory of EXIF data, and
/// the GPS properties of XMP.
public enum PositionMetadata {
    /// The file without it; the pixels stay as they are to the bit, and so does all other metadata.
    ///
    /// What is removed is overwritten in place, in every format that stores EXIF and XMP uncompressed:
    /// JPEG, WebP, TIFF, HEIC, AVIF, JPEG XL and others. Of a PNG file, text chunks with compressed XMP
    /// or EXIF are left out as a whole. Compressed metadata of other formats stays.
    ///
    /// A pass over the bytes; a copy is made only when there is something to remove.
    public static func removed(from file: Data) -> Data {
        file.withUnsafeBytes { bytes in
            if bytes.starts(with: PNGChunks.signature) {
                // A file that ends in the middle of a chunk has been shown, and is kept, as it is.
                return (try? PNGPositions(in: bytes))?.removed(from: file) ?? file
            }
            return removedInPlace(file, bytes)
        }
    }

    private static func removedInPlace(_ file: Data, _ bytes: UnsafeRawBufferPointer) -> Data {
        let directories = [[0x49, 0x49, 0x2A, 0], [0x4D, 0x4D, 0, 0x2A]].flatMap {
            bytes.places(of: $0)
        }
        return file.applying(
            directories.flatMap { GPSDirectory.edits(in: bytes, header: $0) }
                + XMPPositions.edits(in: bytes))
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
    /// These bytes with others in some places.
    func applying(_ edits: [ByteEdit]) -> Data {
        if edits.isEmpty { return self }
        var result = Data(self)
        for edit in edits { result.replaceSubrange(edit.range, with: edit.bytes) }
        return result
    }
}

extension UnsafeRawBufferPointer {
    /// Where `pattern` begins, in ascending order; not more than `limit` places.
    func places(of pattern: [UInt8], atMost limit: Int = 1000) -> [Int] {
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

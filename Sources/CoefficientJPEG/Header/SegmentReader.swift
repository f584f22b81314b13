/// Walks over the segments of a file's header.
struct SegmentReader {
    private let bytes: UnsafeRawBufferPointer
    /// Where the next segment starts; never behind the end of the bytes.
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func readStart() throws(JPEGRefusal) {
        guard bytes.count >= 4, bytes[0] == 0xFF, bytes[1] == 0xD8, bytes[2] == 0xFF else {
            throw .notJPEG
        }
        position = 2
    }

    /// The next marker and what its segment holds behind the length. Only contents that are looked at
    /// are copied.
    mutating func next() throws(JPEGRefusal) -> (marker: UInt8, content: ArraySlice<UInt8>) {
        guard try byte() == 0xFF else { throw .segment }
        var marker = try byte()
        while marker == 0xFF { marker = try byte() }
        // Those that have no length have no business in a header either.
        guard marker >= 0xC0, !(0xD0...0xD9).contains(marker) else { throw .segment }
        let length = Int(try byte()) << 8 | Int(try byte())
        guard length >= 2 else { throw .segment }
        let end = position + length - 2
        guard end <= bytes.count else { throw .truncated }
        let start = position
        position = end
        switch marker {
        case 0xE0, 0xEE: return (marker, ArraySlice(bytes[start..<min(end, start + 16)]))
        case 0xE1...0xEF, 0xFE: return (marker, [])
        default: return (marker, ArraySlice(bytes[start..<end]))
        }
    }

    private mutating func byte() throws(JPEGRefusal) -> UInt8 {
        guard position < bytes.count else { throw .truncated }
        defer { position += 1 }
        return bytes[position]
    }
}

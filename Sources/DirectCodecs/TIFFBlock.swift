/// Bytes in the structure of TIFF (TIFF 6.0, section 2), which EXIF data has too: a header, and
/// directories of entries of twelve bytes.
struct TIFFBlock {
    /// Bytes of an entry: tag, type, count, and value or offset.
    static let entryLength = 12

    /// The offset of the first directory. All offsets count from the header.
    let firstDirectory: Int
    private let bytes: UnsafeRawBufferPointer
    private let start: Int
    private let isLittleEndian: Bool

    /// - Parameter start: Where the header is.
    init?(_ bytes: UnsafeRawBufferPointer, start: Int = 0) {
        self.bytes = bytes
        self.start = start
        switch bytes.integer(at: start, length: 2) {
        case 0x4949: isLittleEndian = true
        case 0x4D4D: isLittleEndian = false
        default: return nil
        }
        let (version, directory) = (
            bytes.integer(at: start + 2, length: 2, littleEndian: isLittleEndian),
            bytes.integer(at: start + 4, length: 4, littleEndian: isLittleEndian)
        )
        guard version == 42, let directory else { return nil }
        firstDirectory = directory
    }

    /// The number of `length` bytes at an offset; `nil` outside of the bytes.
    func number(_ offset: Int, _ length: Int) -> Int? {
        bytes.integer(at: start + offset, length: length, littleEndian: isLittleEndian)
    }

    /// The bytes of a number as they are stored.
    func stored(_ number: UInt16) -> [UInt8] {
        let (low, high) = (UInt8(truncatingIfNeeded: number), UInt8(number >> 8))
        return isLittleEndian ? [low, high] : [high, low]
    }

    /// Where in the bytes what is at these offsets lies; `nil` when it is not all there.
    func range(_ offset: Int, length: Int) -> Range<Int>? {
        guard offset >= 0, length >= 0, start + offset <= bytes.count - length else { return nil }
        return start + offset..<start + offset + length
    }
}

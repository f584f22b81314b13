import DirectCodecs

/// The boxes in a part of a file of the ISO media family (ISO/IEC 14496-12, 4.2), one after the other.
struct ISOBoxes: Sequence, IteratorProtocol {
    /// A box; offsets count from the start of its content.
    struct Box {
        let type: String
        /// The range after size and type; it may extend past the available bytes.
        let content: Range<Int>
        fileprivate let bytes: UnsafeRawBufferPointer

        var available: Int { Swift.min(content.upperBound, bytes.count) - content.lowerBound }

        /// The boxes in the content, behind the version and flags of a full box.
        func boxes(skipping length: Int = 0) -> ISOBoxes {
            ISOBoxes(bytes, content, skipping: length)
        }

        func byte(_ offset: Int) -> UInt8? { bytes.byte(at: content.lowerBound + offset) }

        func number(_ offset: Int, _ length: Int) -> Int? {
            bytes.bigEndian(content.lowerBound + offset, length)
        }

        func code(_ offset: Int) -> String? { bytes.fourLetters(content.lowerBound + offset) }

        /// Bytes of the file, in the content or behind it.
        func slice(_ offset: Int, count: Int) -> UnsafeRawBufferPointer? {
            bytes.slice(content.lowerBound + offset, count: count)
        }

        /// All that is there of the file from an offset on.
        func rest(from offset: Int) -> UnsafeRawBufferPointer? {
            slice(offset, count: bytes.count - content.lowerBound - offset)
        }
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    private let end: Int
    /// The remaining number of boxes to walk; files have some dozens, tables of properties some
    /// hundreds.
    private var left = 4096

    init(_ bytes: UnsafeRawBufferPointer) {
        self.init(bytes, 0..<bytes.count, skipping: 0)
    }

    private init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, skipping length: Int) {
        self.bytes = bytes
        offset = Swift.min(range.lowerBound + length, range.upperBound)
        end = range.upperBound
    }

    /// The next box that has begun; the last one is as long as it says, however long the file is.
    mutating func next() -> Box? {
        guard left > 0, offset + 8 <= end, let short = bytes.bigEndian(offset, 4),
            let type = bytes.fourLetters(offset + 4)
        else { return nil }
        left -= 1
        var start = offset + 8
        var length = short
        if short == 1 {
            // The size in 64 bits.
            guard let long = bytes.bigEndian(start, 8) else { return nil }
            length = long
            start += 8
        } else if short == 0 {
            // To the end of the file.
            length = Swift.max(end, bytes.count) - offset
        }
        guard length >= start - offset else { return nil }
        defer { offset += length }
        return Box(type: type, content: start..<offset + length, bytes: bytes)
    }

    var first: Box? { first { _ in true } }

    func first(_ type: String) -> Box? {
        first { $0.type == type }
    }
}

extension UnsafeRawBufferPointer {
    func fourLetters(_ offset: Int) -> String? {
        slice(offset, count: 4).map { String(decoding: $0, as: UTF8.self) }
    }
}

import Foundation

/// The boxes in a part of a file of the ISO media family (ISO/IEC 14496-12, 4.2), one after the other.
struct ISOBoxes: Sequence, IteratorProtocol {
    struct Box {
        let type: String
        /// The range after size and type; it may extend past the available bytes.
        let content: Range<Int>
    }

    let reader: ByteReader
    private var offset: Int
    private let end: Int
    /// The remaining number of boxes to walk; files have some dozens, tables of properties some
    /// hundreds.
    private var left = 4096

    /// The boxes of a whole file.
    init(_ reader: ByteReader) {
        self.init(reader, 0..<reader.count)
    }

    /// The boxes in `range`, behind the version and flags of a full box.
    init(_ reader: ByteReader, _ range: Range<Int>, skipping length: Int = 0) {
        self.reader = reader
        offset = Swift.min(range.lowerBound + length, range.upperBound)
        end = range.upperBound
    }

    /// The next box that has begun; the last one is as long as it says, however long the file is.
    mutating func next() -> Box? {
        guard left > 0, offset + 8 <= end, let short = reader.bigUInt32(offset),
            let type = reader.slice(offset + 4, count: 4)
        else { return nil }
        left -= 1
        var start = offset + 8
        var length = Int(short)
        if short == 1 {
            // The size in 64 bits.
            guard let long = reader.bigNumber(start, 8) else { return nil }
            length = long
            start += 8
        } else if short == 0 {
            // To the end of the file.
            length = Swift.max(end, reader.count) - offset
        }
        guard length >= start - offset else { return nil }
        defer { offset += length }
        return Box(type: String(decoding: type, as: UTF8.self), content: start..<offset + length)
    }

    var first: Box? { first { _ in true } }

    /// The first box of a type.
    func first(_ type: String) -> Box? {
        first { $0.type == type }
    }
}

extension ByteReader {
    /// A big-endian number of 0, 2, 4 or 8 bytes; one of none is 0.
    func bigNumber(_ offset: Int, _ length: Int) -> Int? {
        switch length {
        case 0: return 0
        case 2: return bigUInt16(offset)
        case 4: return bigUInt32(offset).map(Int.init)
        case 8:
            guard let upper = bigUInt32(offset), upper < 1 << 16,
                let lower = bigUInt32(offset + 4)
            else { return nil }
            return Int(upper) << 32 | Int(lower)
        default: return nil
        }
    }
}

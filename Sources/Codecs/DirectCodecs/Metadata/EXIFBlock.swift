package import Foundation

/// A block of EXIF data, as the formats carry it.
public enum EXIFBlock {
    private static let orientationTag = 0x0112

    /// The orientation, 1…8, of a block with or without "Exif" and two zeros before it; 1 when it has
    /// none, or one that does not exist. Programs write it as any kind of integer, some with more than one value,
    /// of which the first counts. `nil` for a block without a directory, or one that is cut short before it
    /// tells.
    public static func orientation(in block: UnsafeRawBufferPointer) -> Int? {
        guard let tiff = TIFFBlock(exif: block),
            let entries = tiff.entries(ofDirectory: tiff.firstDirectory)
        else { return nil }
        for entry in entries {
            guard let tag = tiff.number(entry, 2) else { return nil }
            guard tag == orientationTag else { continue }
            return tiff.integers(of: entry, atMost: 1)?.first { (1...8).contains($0) } ?? 1
        }
        return 1
    }

    /// The block with orientation 1 where it has one; other bytes come back as they are.
    package static func upright(_ block: Data) -> Data {
        block.withUnsafeBytes { bytes in
            guard let tiff = TIFFBlock(exif: bytes),
                let entries = tiff.entries(ofDirectory: tiff.firstDirectory),
                let entry = entries.first(where: { tiff.number($0, 2) == orientationTag }),
                let (start, length, _) = tiff.placeOfIntegers(of: entry),
                let place = tiff.range(start, length: length)
            else { return block }
            var result = Data(block)
            let first = result.startIndex
            result.replaceSubrange(
                first + place.lowerBound..<first + place.upperBound,
                with: tiff.stored(1, length))
            return result
        }
    }

    /// The block without "Exif" and two zeros before it, as PNG has it.
    package static func bare(_ block: Data) -> Data {
        block.starts(with: Array("Exif\0\0".utf8)) ? block.dropFirst(6) : block
    }

    /// The orientation of bytes that may be missing, which is 1.
    package static func orientation(ofBlock block: [UInt8]?) -> Int? {
        block.map { $0.withUnsafeBytes { orientation(in: $0) } } ?? 1
    }
}

/// Bytes in the structure of TIFF (TIFF 6.0, section 2), which EXIF data has too: a header, and
/// directories of entries of twelve bytes; of BigTIFF they have twenty.
package struct TIFFBlock {
    /// Bytes of an entry: tag, type, count, and value or offset.
    static let entryLength = 12

    /// The offset of the first directory. All offsets count from the header.
    package let firstDirectory: Int
    package let isLittleEndian: Bool
    private let bytes: UnsafeRawBufferPointer
    private let start: Int
    private let isFile: Bool
    private let isBig: Bool

    /// - Parameters:
    ///   - start: Where the header is.
    ///   - isFile: Whether it is a file of its own, which may be BigTIFF and have integers of 8 bytes.
    package init?(_ bytes: UnsafeRawBufferPointer, start: Int = 0, isFile: Bool = false) {
        (self.bytes, self.start, self.isFile) = (bytes, start, isFile)
        switch bytes.bigEndian(start, 2) {
        case 0x4949: isLittleEndian = true
        case 0x4D4D: isLittleEndian = false
        default: return nil
        }
        let version = bytes.integer(at: start + 2, length: 2, littleEndian: isLittleEndian)
        isBig = isFile && version == 43
        let room = isBig ? 8 : 4
        guard isBig || version == 42,
            let directory = bytes.integer(
                at: start + room, length: room, littleEndian: isLittleEndian)
        else { return nil }
        firstDirectory = directory
    }

    /// A block of EXIF data, with or without "Exif" and two zeros before the header.
    init?(exif block: UnsafeRawBufferPointer) {
        self.init(block, start: block.hasText("Exif\0\0") ? 6 : 0)
    }

    /// Bytes of a count and of an offset, and so of values that are in an entry itself.
    private var room: Int { isBig ? 8 : 4 }

    /// Where the entries of the directory at an offset are, each of them there or not; `nil` when there is
    /// no directory.
    package func entries(ofDirectory offset: Int) -> LazyMapSequence<Range<Int>, Int>? {
        let head = isBig ? 8 : 2
        return number(offset, head).map { count in
            (0..<count).lazy.map { offset + head + (isBig ? 20 : Self.entryLength) * $0 }
        }
    }

    /// The offset of the directory behind the one at an offset; `nil` when there is none.
    package func directory(after offset: Int) -> Int? {
        let entries = entries(ofDirectory: offset)?.prefix(1 << 16)
        guard let end = entries?.last.map({ $0 + (isBig ? 20 : Self.entryLength) }) else {
            return nil
        }
        return number(end, room).flatMap { $0 == 0 ? nil : $0 }
    }

    /// The number of `length` bytes at an offset; `nil` outside of the bytes.
    package func number(_ offset: Int, _ length: Int) -> Int? {
        bytes.integer(at: start + offset, length: length, littleEndian: isLittleEndian)
    }

    /// The bytes of each kind of integer (TIFF 6.0, section 2): BYTE, SHORT, LONG, those with a sign, IFD, and
    /// the long ones of BigTIFF.
    private static let integerLengths = [1: 1, 3: 2, 4: 4, 6: 1, 8: 2, 9: 4, 13: 4, 16: 8, 17: 8]
    private static let signedTypes = [6, 8, 9, 17]

    /// Where the values of an entry of integers begin, in the entry or outside of it, the bytes of each, and how
    /// many there are; `nil` for one of another kind.
    package func placeOfIntegers(of entry: Int) -> (start: Int, length: Int, count: Int)? {
        guard let type = number(entry + 2, 2), let length = Self.integerLengths[type],
            length < 8 || isFile, let count = number(entry + 4, room), count > 0
        else { return nil }
        let inside = entry + 4 + room
        return (count <= room / length ? inside : number(inside, room))
            .map { ($0, length, count) }
    }

    /// The first values of an entry of integers, no more than `limit`; `nil` for one of another kind, for negative
    /// values, and where one of them is not there.
    package func integers(of entry: Int, atMost limit: Int) -> [Int]? {
        guard let (start, length, count) = placeOfIntegers(of: entry),
            let type = number(entry + 2, 2)
        else { return nil }
        let most = Self.signedTypes.contains(type) ? 1 << (8 * min(length, 6) - 1) : Int.max
        let values = (0..<min(count, limit)).compactMap { index in
            number(start + index * length, length).flatMap { $0 < most ? $0 : nil }
        }
        return values.count == min(count, limit) ? values : nil
    }

    /// Bytes of a value of each type; the first is none.
    private static let typeLengths = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4]

    /// The bytes that an entry's value takes: up to four are in the entry itself.
    func valueLength(of entry: Int) -> Int? {
        guard let type = number(entry + 2, 2), Self.typeLengths.indices.contains(type) else {
            return nil
        }
        return number(entry + 4, 4).map { Self.typeLengths[type] * $0 }
    }

    /// Where in the bytes an entry's value lies; `nil` when it is not all there.
    func value(of entry: Int) -> Range<Int>? {
        guard let length = valueLength(of: entry),
            let offset = length <= 4 ? entry + 8 : number(entry + 8, 4)
        else { return nil }
        return range(offset, length: length)
    }

    func stored(_ number: Int, _ length: Int) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return isLittleEndian ? bytes : bytes.reversed()
    }

    /// Where in the bytes what is at these offsets lies; `nil` when it is not all there.
    func range(_ offset: Int, length: Int) -> Range<Int>? {
        guard offset >= 0, length >= 0, start + offset <= bytes.count - length else { return nil }
        return start + offset..<start + offset + length
    }
}

/// The author and the copyright notice in EXIF data.
extension EXIFBlock {
    private static let artistTag = 0x013B
    private static let copyrightTag = 0x8298
    private static let textType = 2
    /// Longer texts are left out.
    private static let longestText = 8 << 10

    /// A block with nothing but the author and the copyright notice of `block`; `nil` when it names
    /// neither.
    package static func rights(of block: Data) -> Data? {
        let texts = block.withUnsafeBytes { bytes in
            [artistTag, copyrightTag].compactMap { tag in
                text(of: tag, in: bytes).map { (tag, $0) }
            }
        }
        return texts.isEmpty ? nil : self.block(of: texts)
    }

    private static func text(of tag: Int, in bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let tiff = TIFFBlock(exif: bytes),
            let entries = tiff.entries(ofDirectory: tiff.firstDirectory),
            let entry = entries.first(where: {
                tiff.number($0, 2) == tag && tiff.number($0 + 2, 2) == textType
            }), let range = tiff.value(of: entry), (1...longestText).contains(range.count)
        else { return nil }
        // Behind the text of the photographer there may be a zero and that of the editor.
        let text = Array(bytes[range])
        return text.allSatisfy { $0 == 0 || $0 == 0x20 } ? nil : text
    }

    /// A block with one directory of texts, little-endian (TIFF 6.0, section 2).
    private static func block(of texts: [(tag: Int, text: [UInt8])]) -> Data {
        var block = Data("Exif\0\0II*\0".utf8)
        let headerLength = 8
        block.append(number: headerLength, length: 4)
        block.append(number: texts.count, length: 2)
        var place = headerLength + 2 + TIFFBlock.entryLength * texts.count + 4
        var behind = Data()
        for (tag, text) in texts {
            block.append(number: tag, length: 2)
            block.append(number: textType, length: 2)
            block.append(number: text.count, length: 4)
            if text.count <= 4 {
                block.append(contentsOf: text + Array(repeating: 0, count: 4 - text.count))
            } else {
                block.append(number: place, length: 4)
                // Values begin at even offsets.
                behind.append(contentsOf: text)
                if !text.count.isMultiple(of: 2) { behind.append(0) }
                place += text.count + text.count % 2
            }
        }
        block.append(number: 0, length: 4)
        return block + behind
    }
}

extension Data {
    /// Little-endian.
    fileprivate mutating func append(number: Int, length: Int) {
        append(contentsOf: (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) })
    }
}

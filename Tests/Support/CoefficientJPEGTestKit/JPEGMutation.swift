/// A mutation of a file to test a decoder with.
public enum JPEGMutation: CaseIterable, Sendable {
    case flippedBit
    case flippedHeaderBit
    case randomByte
    case ones
    case truncated
    case removedRange
    case repeatedRange
    case insertedMarker
    case splicedSegment
    case swappedSegments
    case changedSize
    case removedScan
    case swappedScans
    case changedScan
    case appended

    /// Returns the mutated `bytes`. `other` is another file, whose bytes some mutations insert.
    public func apply(
        to bytes: [UInt8], other: [UInt8], using random: inout SeededRandom
    ) -> [UInt8] {
        guard bytes.count > 4 else { return bytes }
        var result = bytes
        let place = Int.random(in: 0..<bytes.count, using: &random)
        let length = Int.random(in: 1...max(1, min(64, bytes.count - place)), using: &random)
        switch self {
        case .flippedBit:
            result[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case .flippedHeaderBit:
            let end = Self.segments(of: bytes).last?.upperBound ?? bytes.count
            result[.random(in: 0..<end, using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        case .randomByte:
            result[place] = .random(in: 0...255, using: &random)
        case .ones:
            for index in place..<place + min(length, 3) { result[index] = 0xFF }
        case .truncated:
            result.removeSubrange(place...)
        case .removedRange:
            result.removeSubrange(place..<place + length)
        case .repeatedRange:
            result.insert(contentsOf: bytes[place..<place + length], at: place)
        case .insertedMarker:
            let marker: UInt8 = [0xD9, 0xD0, 0xD1, 0xD8, 0xDC, 0xDA, 0x01, 0x00, 0xFF]
                .randomElement(using: &random)!
            result.insert(contentsOf: [0xFF, marker], at: place)
        case .splicedSegment:
            guard
                let theirs = Self.segments(of: other).randomElement(using: &random),
                let ours = Self.segments(of: bytes).randomElement(using: &random)
            else { break }
            result.replaceSubrange(
                random.chance(2) ? ours : ours.lowerBound..<ours.lowerBound, with: other[theirs])
        case .swappedSegments:
            let segments = Self.segments(of: bytes)
            guard segments.count > 1 else { break }
            let first = Int.random(in: 0..<segments.count - 1, using: &random)
            let (one, two) = (segments[first], segments[first + 1])
            result.replaceSubrange(
                one.lowerBound..<two.upperBound, with: Array(bytes[two]) + Array(bytes[one]))
        case .changedSize:
            guard
                let frame = Self.segments(of: bytes).first(where: {
                    (0xC0...0xC2).contains(bytes[$0.lowerBound + 1]) && $0.count > 12
                })
            else { break }
            // Height, width, or a component's factors of sampling.
            let field = [6, 8, 11].randomElement(using: &random)!
            result[frame.lowerBound + field] = [
                0x11, 0x21, 0x12, 0x22, 0x41, .random(in: 0...255, using: &random),
            ].randomElement(using: &random)!
        case .removedScan:
            guard let scan = Self.scans(of: bytes).randomElement(using: &random) else { break }
            result.removeSubrange(scan)
        case .swappedScans:
            let scans = Self.scans(of: bytes)
            guard scans.count > 1 else { break }
            let first = Int.random(in: 0..<scans.count - 1, using: &random)
            let (one, two) = (scans[first], scans[first + 1])
            result.replaceSubrange(
                one.lowerBound..<two.upperBound,
                with: Array(bytes[two]) + Array(bytes[one.upperBound..<two.lowerBound])
                    + Array(bytes[one]))
        case .changedScan:
            // The band, or its bits.
            guard let scan = Self.scans(of: bytes).randomElement(using: &random),
                scan.lowerBound + 3 < bytes.count
            else { break }
            let end = scan.lowerBound + 1 + Int(bytes[scan.lowerBound + 3])
            let field = end - .random(in: 0..<3, using: &random)
            guard bytes.indices.contains(field) else { break }
            result[field] = [0, 1, 2, 5, 9, 16, 63, 0x10, 0x21].randomElement(using: &random)!
        case .appended:
            result += other.suffix(length)
        }
        return result
    }

    /// Returns the ranges of the segments of a file's header, up to the first scan.
    static func segments(of bytes: [UInt8]) -> [Range<Int>] {
        var segments: [Range<Int>] = []
        var position = 2
        while position + 4 <= bytes.count, bytes[position] == 0xFF {
            // Markers may be padded.
            guard bytes[position + 1] != 0xFF else {
                position += 1
                continue
            }
            let length = Int(bytes[position + 2]) << 8 | Int(bytes[position + 3])
            let end = position + 2 + length
            guard length >= 2, end <= bytes.count else { break }
            segments.append(position..<end)
            if bytes[position + 1] == 0xDA { break }
            position = end
        }
        return segments
    }

    /// Returns the ranges of a file's scans, from their headers to the ends of their coded data.
    private static func scans(of bytes: [UInt8]) -> [Range<Int>] {
        var scans: [Range<Int>] = []
        var start: Int?
        for index in bytes.indices.dropLast() where bytes[index] == 0xFF {
            let code = bytes[index + 1]
            guard code != 0, code != 0xFF, !(0xD0...0xD7).contains(code) else { continue }
            if let start { scans.append(start..<index) }
            start = code == 0xDA ? index : nil
        }
        return scans
    }
}

/// The coded data of a scan without the zeros that are stuffed behind bytes of ones, chunk by chunk.
///
/// Makes unchecked reading safe: `prepare` is called before each unit. After it, the reader has not
/// gone beyond `end`, and `reach` readable bytes follow its position: bytes of the scan or, behind
/// the last of them, zeros.
struct ScanBytes: ~Copyable {
    /// A block takes 27 bits for its mean and for each of 63 coefficients at most 26, and 16 for its
    /// end: 1,681 bits. A unit has six blocks, and the reader loads eight bytes ahead.
    static let reach = 6 * 216 + 8
    private static let chunk = 16_384
    private static let step = 8

    private let source: UnsafeRawBufferPointer
    private var position: Int
    private let buffer: UnsafeMutableRawPointer
    /// The number of bytes of the scan in the buffer.
    private var filled = 0
    /// A marker or the end of the file has been reached. `position` is that of the marker.
    private var isEnded = false
    /// The marker that has been reached; nil at the end of the file.
    private var marker: UInt8?

    init(_ source: UnsafeRawBufferPointer, from position: Int) {
        self.source = source
        self.position = position
        buffer = .allocate(
            byteCount: ScanBytes.chunk + ScanBytes.step + ScanBytes.reach, alignment: 64)
        buffer.initializeMemory(as: UInt8.self, repeating: 0, count: ScanBytes.reach)
    }

    deinit { buffer.deallocate() }

    var start: UnsafeRawPointer { UnsafeRawPointer(buffer) }
    private var end: UnsafeRawPointer { start + filled }

    @inline(__always)
    mutating func prepare(_ reader: inout BitReader) throws(JPEGRefusal) {
        // What the reader has not loaded lies behind what it stands at.
        if reader.next + ScanBytes.reach > end { try more(&reader) }
    }

    /// Checks that the picture ends where the scan ends, and the file's image with it.
    mutating func finish(_ reader: inout BitReader) throws(JPEGRefusal) {
        switch try close(&reader) {
        case 0xD9: return
        case 0xC4, 0xDA, 0xDB: throw .scans
        default: throw .trailing
        }
    }

    /// Checks that nothing is left of the scan, and returns the marker behind it.
    @discardableResult
    mutating func close(_ reader: inout BitReader) throws(JPEGRefusal) -> UInt8 {
        try more(&reader)
        // Less than a byte may be left.
        guard isEnded, reader.unreadBits(before: end) < 8 else { throw .trailing }
        switch marker {
        case nil: throw .truncated
        case .some(0xD0...0xD7): throw .restartMarkers
        case .some(let marker): return marker
        }
    }

    /// Continues behind the restart marker of this number, which has to come next.
    mutating func restart(_ reader: inout BitReader, number: UInt8) throws(JPEGRefusal) {
        try more(&reader)
        guard isEnded, reader.unreadBits(before: end) < 8, marker == 0xD0 + number else {
            throw .restartMarkers
        }
        position += 1
        isEnded = false
        marker = nil
        filled = 0
        reader = BitReader(start)
        try fill()
    }

    @inline(never)
    private mutating func more(_ reader: inout BitReader) throws(JPEGRefusal) {
        if !isEnded {
            let rest = end - reader.unread
            // The reader is not behind the end: a reach was readable, and a unit takes less.
            buffer.copyMemory(from: reader.unread, byteCount: rest)
            reader.rebase(to: start)
            filled = rest
            try fill()
        }
        guard reader.unreadBits(before: end) >= 0 else { throw .truncated }
    }

    private mutating func fill() throws(JPEGRefusal) {
        // A step writes no more than `step` bytes: there is room for these and for the padding.
        while filled < ScanBytes.chunk, !isEnded {
            if position + ScanBytes.step <= source.count {
                let word = source.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                if !ScanBytes.hasOnes(word) {
                    buffer.storeBytes(of: word, toByteOffset: filled, as: UInt64.self)
                    position += ScanBytes.step
                    filled += ScanBytes.step
                    continue
                }
            }
            try fillOnes()
        }
        (buffer + filled).initializeMemory(as: UInt8.self, repeating: 0, count: ScanBytes.reach)
    }

    /// Copies up to eight bytes among which a byte of ones may be.
    private mutating func fillOnes() throws(JPEGRefusal) {
        for _ in 0..<ScanBytes.step {
            guard position < source.count else {
                isEnded = true
                return
            }
            let byte = source[position]
            if byte == 0xFF {
                guard position + 1 < source.count, source[position + 1] == 0 else {
                    return try readMarker()
                }
                position += 1
            }
            buffer.storeBytes(of: byte, toByteOffset: filled, as: UInt8.self)
            position += 1
            filled += 1
        }
    }

    private mutating func readMarker() throws(JPEGRefusal) {
        isEnded = true
        while position < source.count, source[position] == 0xFF { position += 1 }
        guard position < source.count else { return }
        let byte = source[position]
        guard byte != 0 else { throw .damaged }
        marker = byte
    }

    @inline(__always)
    private static func hasOnes(_ word: UInt64) -> Bool {
        let low: UInt64 = 0x0101_0101_0101_0101
        return (~word &- low) & word & (low &<< 7) != 0
    }
}

/// Counts the units of a scan up to the markers that allow starting anew there.
struct Restarts {
    private let interval: Int
    private var left: Int
    private var number: UInt8 = 0

    /// Without markers the interval is 0.
    init(interval: Int) {
        self.interval = interval
        left = interval
    }

    /// The number of the marker that comes before the next unit, 0 to 7 in turn; nil when none does.
    @inline(__always)
    mutating func next() -> UInt8? {
        guard interval > 0 else { return nil }
        guard left == 0 else {
            left &-= 1
            return nil
        }
        left = interval &- 1
        defer { number = (number &+ 1) & 7 }
        return number
    }
}

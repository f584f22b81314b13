/// The bits of a scan, without the zeros that are stuffed behind each 0xFF.
struct EntropyReader {
    private let bytes: UnsafeRawBufferPointer
    /// The next byte that is not in the window.
    private var offset: Int
    /// The next bits, from the highest on.
    private var window: UInt64 = 0
    /// How many of them there are.
    private var available = 0
    /// The last of them, which are not in the file any more.
    private var invented = 0

    /// - Parameter offset: Where the scan's bits begin.
    init(_ bytes: UnsafeRawBufferPointer, from offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Whether bits were taken behind the end of the scan.
    var isExhausted: Bool { available < invented }

    /// The next sixteen bits, which stay the next ones.
    @inline(__always)
    mutating func peek16() -> Int {
        if available < 16 { refill() }
        return Int(window >> 48)
    }

    /// Passes over as many bits, up to sixteen, that have been looked at.
    @inline(__always)
    mutating func skip(_ count: Int) {
        window <<= UInt64(truncatingIfNeeded: count)
        available &-= count
    }

    /// The next `count` bits, one to sixteen.
    @inline(__always)
    mutating func take(_ count: Int) -> Int {
        let bits = peek16() &>> (16 &- count)
        skip(count)
        return bits
    }

    /// Goes on behind the restart mark of `number`; false when that is not what follows.
    mutating func restart(_ number: Int) -> Bool {
        if available < 8 { refill() }
        // Of the bits that are left, those of the scan are the padding of its last byte.
        guard !isExhausted, available - invented < 8, offset + 1 < bytes.count,
            bytes[offset] == 0xFF, bytes[offset + 1] == 0xD0 + UInt8(number & 7)
        else { return false }
        offset += 2
        window = 0
        available = 0
        invented = 0
        return true
    }

    private mutating func refill() {
        while available <= 48 {
            var byte: UInt8 = 0
            if offset < bytes.count, bytes[offset] != 0xFF {
                byte = bytes[offset]
                offset += 1
            } else if offset + 1 < bytes.count, bytes[offset + 1] == 0 {
                byte = 0xFF
                offset += 2
            } else {
                // A mark, or the end of the file: zeros, which nothing should need.
                invented += 8
            }
            window |= UInt64(byte) << UInt64(56 - available)
            available += 8
        }
    }
}

/// A Huffman table of a JPEG file, for the magnitudes of DC differences.
final class HuffmanTable {
    /// Bits that are looked up at once.
    private static let lookupBits = 9
    /// Magnitudes that pictures of 8 bits have.
    private static let greatestSymbol: UInt8 = 11

    /// For each pattern of the next bits the length of its code times 256, and its symbol; 0 where the
    /// code is longer.
    private let lookup: UnsafeMutablePointer<UInt16>
    /// For each length the first pattern of 16 bits behind its codes, and what is to be added to such a
    /// code for the place of its symbol.
    private var ends = [Int](repeating: 0, count: 17)
    private var offsets = [Int](repeating: 0, count: 17)
    private let symbols: [UInt8]

    /// - Parameters:
    ///   - counts: How many codes there are of each length from 1 to 16.
    ///   - symbols: Their symbols, in order.
    /// - Returns: `nil` when those are no table for DC differences.
    init?(counts: UnsafeRawBufferPointer, symbols: UnsafeRawBufferPointer) {
        lookup = .allocate(capacity: 1 << Self.lookupBits)
        lookup.initialize(repeating: 0, count: 1 << Self.lookupBits)
        self.symbols = Array(symbols)
        guard counts.count == 16, symbols.allSatisfy({ $0 <= Self.greatestSymbol }) else {
            return nil
        }
        var code = 0
        var place = 0
        for length in 1...16 {
            let count = Int(counts[length - 1])
            guard place + count <= symbols.count, code + count <= 1 << length else { return nil }
            offsets[length] = place - code
            if length <= Self.lookupBits {
                let spare = Self.lookupBits - length
                for index in 0..<count {
                    (lookup + (code + index) << spare).update(
                        repeating: UInt16(length) << 8 | UInt16(symbols[place + index]),
                        count: 1 << spare)
                }
            }
            code += count
            place += count
            ends[length] = code << (16 - length)
            code <<= 1
        }
        guard place == symbols.count else { return nil }
    }

    deinit {
        lookup.deallocate()
    }

    /// The symbol at the start of sixteen bits and the length of its code, in one number: length times 256
    /// and symbol; 0 when there is no such code.
    @inline(__always)
    func find(_ bits: Int) -> Int {
        let found = Int(lookup[bits >> (16 - Self.lookupBits)])
        return found != 0 ? found : findLong(bits)
    }

    private func findLong(_ bits: Int) -> Int {
        for length in Self.lookupBits + 1...16 where bits < ends[length] {
            let place = bits >> (16 - length) + offsets[length]
            return symbols.indices.contains(place) ? length << 8 | Int(symbols[place]) : 0
        }
        return 0
    }
}

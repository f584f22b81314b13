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

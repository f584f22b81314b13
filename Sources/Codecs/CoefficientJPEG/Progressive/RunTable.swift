/// Decodes the symbols of a scan of AC coefficients, with the bits that belong to them (ITU-T T.81,
/// G.1.2.2 and G.1.2.3).
final class RunTable {
    /// A decoded symbol, in 32 bits.
    struct Entry {
        /// The number of bits consumed; 0 when there is no such code.
        let length: UInt8
        /// The number of coefficients to advance; the last one has the value. 0 at the end of a
        /// run.
        let advance: UInt8
        /// 0 after 16 zeros; at the end of a run the number of blocks that end here, this one
        /// included.
        let value: Int16
    }

    private static let width = 11
    private static let none = Entry(length: 0, advance: 0, value: 0)

    private let entries: UnsafeMutablePointer<Entry>
    private let code: HuffmanCode

    init(_ definition: HuffmanDefinition) throws(JPEGRefusal) {
        code = try HuffmanCode(definition)
        entries = .allocate(capacity: 1 << Self.width)
        entries.initialize(repeating: Self.none, count: 1 << Self.width)
        for (symbol, (bits, length)) in zip(code.symbols, code.codes) where length <= Self.width {
            let size = Self.size(of: symbol)
            // Symbols whose bits do not all fit are left to `find`.
            guard length + size <= Self.width else { continue }
            let rest = Self.width - length - size
            for value in 0..<1 << size {
                (entries + (bits << size | value) << rest).update(
                    repeating: Self.entry(symbol, value, used: length + size), count: 1 << rest)
            }
        }
    }

    deinit {
        entries.deallocate()
    }

    /// Reads the next symbol: at most 30 bits, which have to be ready.
    @inline(__always)
    func next(_ reader: inout BitReader) -> Entry {
        // 11 bits: less than 2,048.
        var entry = entries[reader.peek(Self.width)]
        if entry.length == 0 { entry = find(reader.bits) }
        reader.skip(Int(entry.length))
        return entry
    }

    /// Finds the next symbol by comparing with the ends of the codes.
    @inline(never)
    private func find(_ bits: UInt64) -> Entry {
        let start = UInt32(truncatingIfNeeded: bits >> 48)
        for length in 1...16 where start < code.ends[length] {
            let place = code.offsets[length] + Int(start >> UInt32(16 - length))
            guard code.symbols.indices.contains(place) else { return Self.none }
            let symbol = code.symbols[place]
            let size = Self.size(of: symbol)
            let value = size == 0 ? 0 : Int((bits << UInt64(length)) >> UInt64(64 - size))
            return Self.entry(symbol, value, used: length + size)
        }
        return Self.none
    }

    /// The number of bits after the code of a symbol.
    private static func size(of symbol: UInt8) -> Int {
        if symbol & 15 > 0 { return Int(symbol & 15) }
        return symbol == 0xF0 ? 0 : Int(symbol >> 4)
    }

    private static func entry(_ symbol: UInt8, _ bits: Int, used: Int) -> Entry {
        let run = Int(symbol >> 4)
        let size = Int(symbol & 15)
        let (advance, value) =
            if size > 0 {
                (run + 1, CodedSymbol.value(of: bits, size: size))
            } else if run == 15 {
                (16, 0)
            } else {
                (0, 1 << run + bits)
            }
        return Entry(length: UInt8(used), advance: UInt8(advance), value: Int16(value))
    }
}

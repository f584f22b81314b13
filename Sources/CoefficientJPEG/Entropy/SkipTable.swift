/// How far the next 13 bits reach when their values do not matter: as many whole symbols at once as
/// have their codes in these bits. The value of the last may reach beyond them. Two bytes each:
///
/// - how many bits are used up, at most 23,
/// - how far the place in the block advances. `end` and 1 are added when the last symbol ends the block;
///   `unknown` stands where the first code is longer than 13 bits or is none.
///
/// A block's next place lies in 1...63. With the advance added, it is
/// - less than 64 when more symbols follow,
/// - 64, or `end` + 2 to `end` + 64, when the block has ended as it should,
/// - otherwise behind the end: less than `end` and more than 64, or more than `end` + 64. Then the
///   symbols have to be taken one by one, because the last of them may belong to the next block.
enum SkipTable {
    /// Bytes, so that a length is loaded ready for shifting.
    struct Entry {
        let length: UInt8
        let advance: UInt8
    }

    static let width = 13
    static let end = 128
    static let unknown = 64

    static func entries(of code: HuffmanCode) -> [Entry] {
        // The tables of fewer bits one behind the other: that of n bits starts at 2ⁿ. What follows the
        // first symbol is an entry of a smaller table.
        var tables = [Entry](repeating: Entry(length: 0, advance: 0), count: 2 << width)
        tables.withUnsafeMutableBufferPointer { tables in
            for bits in 1...width { fill(tables, bits: bits, code: code) }
        }
        return tables.suffix(1 << width).map {
            $0.length > 0 ? $0 : Entry(length: 0, advance: UInt8(unknown))
        }
    }

    private static func fill(
        _ tables: UnsafeMutableBufferPointer<Entry>, bits: Int, code: HuffmanCode
    ) {
        for (symbol, (first, length)) in zip(code.symbols, code.codes) where length <= bits {
            guard let coded = CodedSymbol(symbol, purpose: .alternating) else { continue }
            let start = (1 << bits) + first << (bits - length)
            let indices = start..<start + 1 << (bits - length)
            guard let advance = coded.advance else {
                let entry = Entry(length: UInt8(length), advance: UInt8(1 + end))
                for index in indices { tables[index] = entry }
                continue
            }
            let used = length + coded.size
            let rest = max(bits - used, 0)
            for index in indices {
                let next = tables[1 << rest | index & ((1 << rest) - 1)]
                // No more than 63 coefficients follow the first of a block.
                let fits = advance &+ Int(next.advance) & (end - 1) <= 64
                tables[index] = Entry(
                    length: UInt8(truncatingIfNeeded: used) &+ (fits ? next.length : 0),
                    advance: UInt8(truncatingIfNeeded: advance) &+ (fits ? next.advance : 0))
            }
        }
    }
}

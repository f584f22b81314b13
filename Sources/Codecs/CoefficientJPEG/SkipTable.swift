/// The lengths of the symbols in the next 13 bits, for skipping their values: as many whole symbols
/// at once as have their codes in these bits. The value of the last may reach beyond them. Two
/// bytes each:
///
/// - the number of bits consumed, at most 23,
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

/// The next 11 bits decoded as up to two symbols with their values, and the end of the block behind
/// them, in 64 bits each:
///
/// - bits 0–7: the number of bits consumed,
/// - bits 8–15: coefficients to advance in all, and 1 more for the end of the block; `unknown` when the
///   first symbol needs more bits or no code is like them,
/// - bits 16–23 and 24–30: coefficients to advance to the first and from there to the second value; 0
///   when there is none, and then the value is 0 too,
/// - bit 31: the block ends,
/// - bits 32–47 and 48–63: the values, signed.
///
/// An entry whose advance leads behind place 64 must not be used as a whole, because the last of it
/// may belong to the next block.
enum PairTable {
    static let width = 11
    static let unknown: UInt64 = 64 << 8
    private static let end: UInt64 = 1 << 31

    static func entries(of code: HuffmanCode) -> [UInt64] {
        let firsts = CodedValue.all(of: code, width: width, purpose: .alternating)
        let mask = firsts.count - 1
        return firsts.indices.map { index in
            let first = firsts[index]
            guard first.length > 0 else { return unknown }
            guard first.advance > 0 else { return entry(used: first.length, advance: 1) | end }
            let values = UInt64(first.advance) << 16 | word(first.value) << 32
            // The second, if all its bits are within the width.
            let second = firsts[index << first.length & mask]
            var used = first.length + second.length
            guard second.length > 0, used <= width else {
                return entry(used: first.length, advance: first.advance) | values
            }
            guard second.advance > 0 else {
                return entry(used: used, advance: first.advance + 1) | values | end
            }
            let both = values | UInt64(second.advance) << 24 | word(second.value) << 48
            let advance = first.advance + second.advance
            let third = firsts[index << used & mask]
            guard third.length > 0, third.advance == 0, used + third.length <= width else {
                return entry(used: used, advance: advance) | both
            }
            used += third.length
            return entry(used: used, advance: advance + 1) | both | end
        }
    }

    private static func entry(used: Int, advance: Int) -> UInt64 {
        UInt64(used) | UInt64(advance) << 8
    }

    private static func word(_ value: Int) -> UInt64 {
        UInt64(UInt16(bitPattern: Int16(value)))
    }
}

/// The next 11 bits decoded as the size of a difference with the difference itself, in 32 bits
/// each:
///
/// - bits 0–7: the number of bits consumed; 0 when there are more, or there is no such code,
/// - bits 16–31: the difference, signed.
enum ValueTable {
    static let width = 11

    static func entries(of code: HuffmanCode) -> [UInt32] {
        CodedValue.all(of: code, width: width, purpose: .direct).map {
            UInt32($0.length) | UInt32(UInt16(bitPattern: Int16($0.value))) << 16
        }
    }
}

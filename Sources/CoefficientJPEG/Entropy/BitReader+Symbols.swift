/// A symbol as it was read, with its value.
struct ReadSymbol {
    /// Coefficients to advance; 0 at the end of a block, `damage` when there is no such code.
    let advance: Int
    let value: Int

    /// Leads behind the end of any block.
    static let damage = 1_000
}

extension BitReader {
    /// Takes one symbol and its value: at most 26 bits of an alternating table, 27 of a direct one.
    /// They have to be ready.
    @inline(__always)
    mutating func readSymbol(_ table: EntropyLookup) -> ReadSymbol {
        // 11 bits: less than 2,048.
        let entry = table.values[peek(ValueTable.width)]
        // Some bits are used up and none are missing.
        guard entry & 0x3FF &- 1 < 63 else { return readLongSymbol(table) }
        skip(Int(truncatingIfNeeded: entry))
        return ReadSymbol(
            advance: Int(truncatingIfNeeded: entry &>> 10 & 63),
            value: Int(truncatingIfNeeded: Int32(bitPattern: entry) &>> 16))
    }

    /// The same by comparing with the ends of the codes, for what does not fit into the table.
    @inline(never)
    mutating func readLongSymbol(_ table: EntropyLookup) -> ReadSymbol {
        let code = UInt32(truncatingIfNeeded: peek(16))
        for length in 1...16 where code < table.ends[length] {
            // `HuffmanCode` has made sure that this is a place among the symbols.
            let place = Int(table.offsets[length]) &+ Int(code &>> UInt32(16 &- length))
            let symbol = table.symbols[place & 255]
            guard symbol & 1 == 1 else { break }
            skip(length)
            let size = Int(symbol &>> 6 & 15)
            guard size > 0 else {
                return ReadSymbol(advance: Int(symbol &>> 10), value: 0)
            }
            let value = CodedSymbol.value(of: peek(size), size: size)
            skip(size)
            return ReadSymbol(advance: Int(symbol &>> 10), value: value)
        }
        return ReadSymbol(advance: ReadSymbol.damage, value: 0)
    }

    /// Steps over what is left of a block behind the place it has reached, 1...64. False when that is
    /// not as it should be.
    @inline(__always)
    mutating func skipBlock(from start: Int, _ table: EntropyLookup) -> Bool {
        var place = start
        while place < 64 {
            refill()
            // 13 bits: less than 8,192. Of the 56 bits ready an entry takes 23 at most, so that two
            // are looked up in turn.
            var entry = Int(table.skips[peek(SkipTable.width)])
            var reached = place &+ entry &>> 6
            if reached < 64 {
                skip(entry)
                place = reached
                entry = Int(table.skips[peek(SkipTable.width)])
                reached = place &+ entry &>> 6
                if reached < 64 {
                    skip(entry)
                    place = reached
                    continue
                }
            }
            if reached & (SkipTable.end - 1) <= 64 {
                skip(entry)
                return true
            }
            // 33 bits are left at least.
            let symbol = readSymbol(table)
            guard symbol.advance > 0 else { return true }
            place &+= symbol.advance
        }
        return place == 64
    }
}

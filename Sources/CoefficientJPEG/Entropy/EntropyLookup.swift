/// Where an `EntropyTable` has its tables; valid as long as the table lives.
struct EntropyLookup {
    /// 2,048 entries of `ValueTable`; only in a table for means.
    let values: UnsafePointer<UInt32>
    /// 2,048 entries of `PairTable` and 8,192 of `SkipTable`; none in a table for means.
    let pairs: UnsafePointer<UInt64>
    let skips: UnsafePointer<SkipTable.Entry>
    /// 17 each, of `HuffmanCode`.
    let ends: UnsafePointer<UInt32>
    let offsets: UnsafePointer<Int32>
    /// 256: bit 0 is set in symbols that may occur, the size is in bits 6–9, the advance in those above.
    let symbols: UnsafePointer<UInt32>
}

extension EntropyLookup {
    /// The symbol, with its value, at the top of 27 bits or more, and how many of them it takes; found
    /// by comparing with the ends of the codes.
    ///
    /// The bits come as a number and not as a reader, which would have to leave its registers for it.
    @inline(never)
    static func longSymbol(
        _ table: UnsafePointer<EntropyLookup>, _ bits: UInt64
    ) -> (symbol: ReadSymbol, length: Int) {
        let (ends, offsets) = (table.pointee.ends, table.pointee.offsets)
        let code = UInt32(truncatingIfNeeded: bits &>> 48)
        for length in 1...16 where code < ends[length] {
            // `HuffmanCode` has made sure that this is a place among the symbols.
            let place = Int(offsets[length]) &+ Int(code &>> UInt32(16 &- length))
            let symbol = table.pointee.symbols[place & 255]
            guard symbol & 1 == 1 else { break }
            let size = Int(symbol &>> 6 & 15)
            let advance = Int(symbol &>> 10)
            guard size > 0 else { return (ReadSymbol(advance: advance, value: 0), length) }
            let rest = Int(truncatingIfNeeded: (bits &<< UInt64(length)) &>> UInt64(64 &- size))
            let value = CodedSymbol.value(of: rest, size: size)
            return (ReadSymbol(advance: advance, value: value), length &+ size)
        }
        return (ReadSymbol(advance: ReadSymbol.damage, value: 0), 0)
    }
}

import Synchronization

/// The tables that are looked up for one Huffman table of a file.
///
/// `@unchecked Sendable`: the memory is written by `init` alone.
final class EntropyTable: @unchecked Sendable {
    let lookup: UnsafePointer<EntropyLookup>
    private let memory: [UnsafeMutableRawPointer]

    init(_ definition: HuffmanDefinition) throws(JPEGRefusal) {
        let code = try HuffmanCode(definition)
        let isDirect = definition.purpose == .direct
        // One word for each symbol; 256, so that any index of a byte is within.
        let symbols = (0..<256).map { index -> UInt32 in
            guard
                index < code.symbols.count,
                let symbol = CodedSymbol(code.symbols[index], purpose: definition.purpose)
            else { return 0 }
            return UInt32(symbol.size) << 6 | UInt32(symbol.advance ?? 0) << 10 | 1
        }
        var memory: [UnsafeMutableRawPointer] = []
        func copy<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
            let copy = UnsafeMutableBufferPointer<Element>.allocate(
                capacity: max(elements.count, 1))
            _ = copy.initialize(from: elements)
            memory.append(UnsafeMutableRawPointer(copy.baseAddress!))
            return UnsafePointer(copy.baseAddress!)
        }
        let tables = EntropyLookup(
            values: copy(isDirect ? ValueTable.entries(of: code) : []),
            pairs: copy(isDirect ? [] : PairTable.entries(of: code)),
            skips: copy(isDirect ? [] : SkipTable.entries(of: code)), ends: copy(code.ends),
            offsets: copy(code.offsets.map { Int32($0) }), symbols: copy(symbols))
        lookup = copy([tables])
        self.memory = memory
    }

    deinit {
        for pointer in memory { pointer.deallocate() }
    }
}

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

/// Keeps the tables of the last few definitions: most files have those of the standard's Annex K, and
/// making them takes longer than decoding a small picture.
final class EntropyTableCache: Sendable {
    static let shared = EntropyTableCache(limit: 16)

    private let limit: Int
    /// The latest used come last.
    private let tables = Mutex<[(definition: HuffmanDefinition, table: EntropyTable)]>([])

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { tables.withLock { $0.count } }

    func table(for definition: HuffmanDefinition) throws(JPEGRefusal) -> EntropyTable {
        if let known = find(definition) { return known }
        let made = try EntropyTable(definition)
        tables.withLock { tables in
            // Another thread may have been as quick; one of both is enough.
            tables.removeAll { $0.definition == definition }
            tables.append((definition, made))
            if tables.count > limit { tables.removeFirst() }
        }
        return made
    }

    private func find(_ definition: HuffmanDefinition) -> EntropyTable? {
        tables.withLock { tables in
            guard let index = tables.lastIndex(where: { $0.definition == definition }) else {
                return nil
            }
            let found = tables.remove(at: index)
            tables.append(found)
            return found.table
        }
    }
}

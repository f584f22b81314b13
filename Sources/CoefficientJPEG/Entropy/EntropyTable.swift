/// The tables that are looked up for one Huffman table of a file.
///
/// `@unchecked Sendable`: the memory is written by `init` alone.
final class EntropyTable: @unchecked Sendable {
    let lookup: UnsafePointer<EntropyLookup>

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
        let tables = EntropyLookup(
            values: EntropyTable.copy(isDirect ? ValueTable.entries(of: code) : []),
            pairs: EntropyTable.copy(isDirect ? [] : PairTable.entries(of: code)),
            skips: EntropyTable.copy(isDirect ? [] : SkipTable.entries(of: code)),
            ends: EntropyTable.copy(code.ends),
            offsets: EntropyTable.copy(code.offsets.map { Int32($0) }),
            symbols: EntropyTable.copy(symbols))
        lookup = EntropyTable.copy([tables])
    }

    deinit {
        lookup.pointee.values.deallocate()
        lookup.pointee.pairs.deallocate()
        lookup.pointee.skips.deallocate()
        lookup.pointee.ends.deallocate()
        lookup.pointee.offsets.deallocate()
        lookup.pointee.symbols.deallocate()
        lookup.deallocate()
    }

    private static func copy<Element: BitwiseCopyable>(
        _ elements: [Element]
    ) -> UnsafePointer<Element> {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
        _ = memory.initialize(from: elements)
        return UnsafePointer(memory.baseAddress!)
    }
}

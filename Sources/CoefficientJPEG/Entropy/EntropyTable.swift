/// The tables that are looked up for one Huffman table of a file.
///
/// `@unchecked Sendable`: the memory is written by `init` alone.
final class EntropyTable: @unchecked Sendable {
    let lookup: EntropyLookup

    init(_ definition: HuffmanDefinition) throws(JPEGRefusal) {
        let code = try HuffmanCode(definition)
        let values = ValueTable.entries(of: code, purpose: definition.purpose)
        let skips = definition.purpose == .direct ? [] : SkipTable.entries(of: code)
        // One word for each symbol; 256, so that any index of a byte is within.
        let symbols = (0..<256).map { index -> UInt32 in
            guard
                index < code.symbols.count,
                let symbol = CodedSymbol(code.symbols[index], purpose: definition.purpose)
            else { return 0 }
            return UInt32(symbol.size) << 6 | UInt32(symbol.advance ?? 0) << 10 | 1
        }
        lookup = EntropyLookup(
            values: EntropyTable.copy(values),
            skips: EntropyTable.copy(skips),
            ends: EntropyTable.copy(code.ends),
            offsets: EntropyTable.copy(code.offsets.map { Int32($0) }),
            symbols: EntropyTable.copy(symbols))
    }

    deinit {
        lookup.values.deallocate()
        lookup.skips.deallocate()
        lookup.ends.deallocate()
        lookup.offsets.deallocate()
        lookup.symbols.deallocate()
    }

    private static func copy<Element: BitwiseCopyable>(
        _ elements: [Element]
    ) -> UnsafePointer<Element> {
        let memory = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(elements.count, 1))
        _ = memory.initialize(from: elements)
        return UnsafePointer(memory.baseAddress!)
    }
}

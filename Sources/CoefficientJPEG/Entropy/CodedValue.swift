/// A symbol with its value, and how many bits they take together.
struct CodedValue {
    /// As of `CodedSymbol`.
    let advance: Int?
    let value: Int
    let length: Int
}

extension HuffmanCode {
    /// The symbol and its value at the top of a number of so many bits, if all of their bits are there.
    func firstValue(
        of bits: Int, width: Int, purpose: HuffmanDefinition.Purpose
    ) -> CodedValue? {
        guard
            let (symbol, length) = first(of: UInt32(bits << (16 - width))),
            let coded = CodedSymbol(symbol, purpose: purpose),
            length + coded.size <= width
        else { return nil }
        let rest = bits >> (width - length - coded.size) & ((1 << coded.size) - 1)
        return CodedValue(
            advance: coded.advance,
            value: CodedSymbol.value(of: rest, size: coded.size),
            length: length + coded.size)
    }
}

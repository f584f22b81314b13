/// A symbol with its value.
struct CodedValue {
    /// Coefficients to advance; 0 at the end of the block.
    var advance = 0
    var value = 0
    /// Bits that code and value take together; 0 when they do not fit or there is no such symbol.
    var length = 0

    /// What is first in each number of so many bits.
    static func all(
        of code: HuffmanCode, width: Int, purpose: HuffmanDefinition.Purpose
    ) -> [CodedValue] {
        var all = [CodedValue](repeating: CodedValue(), count: 1 << width)
        for (symbol, (bits, length)) in zip(code.symbols, code.codes) {
            guard
                let coded = CodedSymbol(symbol, purpose: purpose),
                length + coded.size <= width
            else { continue }
            let rest = width - length - coded.size
            for number in 0..<1 << coded.size {
                let entry = CodedValue(
                    advance: coded.advance ?? 0,
                    value: CodedSymbol.value(of: number, size: coded.size),
                    length: length + coded.size)
                let start = (bits << coded.size | number) << rest
                for index in start..<start + 1 << rest { all[index] = entry }
            }
        }
        return all
    }
}

/// What the next 11 bits mean as one symbol with its value, in 32 bits each:
///
/// - bits 0–5: how many bits are used up; 0 when the code is longer or is none,
/// - bits 6–9: bits of the value that follow and did not fit; the value is 0 then,
/// - bits 10–15: coefficients to advance, 0 at the end of a block,
/// - bits 16–31: the value, signed.
enum ValueTable {
    static let width = 11
    static let count = 1 << width

    static func entries(of code: HuffmanCode, purpose: HuffmanDefinition.Purpose) -> [UInt32] {
        (0..<count).map { index in
            guard
                let (symbol, length) = code.first(of: UInt32(index << (16 - width))),
                length <= width,
                let coded = CodedSymbol(symbol, purpose: purpose)
            else { return 0 }
            let advance = UInt32(coded.advance ?? 0) << 10
            let rest = width - length
            guard coded.size <= rest else {
                return UInt32(length) | UInt32(coded.size) << 6 | advance
            }
            let bits = index >> (rest - coded.size) & ((1 << coded.size) - 1)
            let value = Int16(CodedSymbol.value(of: bits, size: coded.size))
            return UInt32(length + coded.size) | advance
                | UInt32(UInt16(bitPattern: value)) << 16
        }
    }
}

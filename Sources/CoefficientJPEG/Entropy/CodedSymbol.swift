/// What a symbol of a Huffman table says, if it is one that a baseline file may have.
struct CodedSymbol {
    /// Coefficients that it accounts for: zeros and the one behind them; nil at the end of a block.
    let advance: Int?
    /// Bits of the value behind the code.
    let size: Int

    init?(_ symbol: UInt8, purpose: HuffmanDefinition.Purpose) {
        switch purpose {
        case .direct:
            guard symbol <= 11 else { return nil }
            advance = 1
            size = Int(symbol)
        case .alternating:
            size = Int(symbol & 15)
            guard size <= 10, size > 0 || symbol == 0 || symbol == 0xF0 else { return nil }
            advance = symbol == 0 ? nil : Int(symbol >> 4) + 1
        }
    }

    /// The value that bits of this size stand for: those that start with 0 are negative.
    static func value(of bits: Int, size: Int) -> Int {
        size > 0 && bits >> (size - 1) == 0 ? bits - (1 << size) + 1 : bits
    }
}

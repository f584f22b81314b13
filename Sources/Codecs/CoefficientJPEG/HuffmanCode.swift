/// The codes of a Huffman table, checked: symbols are found by comparing with the end of each length.
struct HuffmanCode {
    /// One more than the last code of each length, as 16 bits with zeros behind; lengths without codes
    /// have the end of the length before. Ascending, 17 values, of which the first is 0.
    private(set) var ends: [UInt32] = [0]
    /// The offset from a code of each length to its index among the symbols.
    private(set) var offsets: [Int] = [0]
    let symbols: [UInt8]
    private(set) var codes: [(bits: Int, length: Int)] = []

    init(_ definition: HuffmanDefinition) throws(JPEGRefusal) {
        symbols = definition.symbols
        var code = 0
        var place = 0
        for (index, count) in definition.counts.enumerated() {
            let length = index + 1
            offsets.append(place - code)
            for bits in code..<code + Int(count) { codes.append((bits, length)) }
            code += Int(count)
            place += Int(count)
            // Also the code of ones alone must not be taken.
            guard count == 0 || code < 1 << length else { throw .huffman }
            ends.append(count == 0 ? ends[index] : UInt32(code) << UInt32(16 - length))
            code <<= 1
        }
        guard place == symbols.count else { throw .huffman }
        if definition.purpose == .direct {
            guard symbols.allSatisfy({ $0 < 16 }) else { throw .huffman }
        }
    }
}

/// The meaning of a Huffman symbol that is valid in a baseline file.
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

struct CodedValue {
    /// Coefficients to advance; 0 at the end of the block.
    var advance = 0
    var value = 0
    /// Bits that code and value take together; 0 when they do not fit or there is no such symbol.
    var length = 0

    /// The first symbol and its value for each number of `width` bits.
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

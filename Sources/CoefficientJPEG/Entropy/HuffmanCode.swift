/// The codes of a Huffman table, checked: symbols are found by comparing with the end of each length.
struct HuffmanCode {
    /// One more than the last code of each length, as 16 bits with zeros behind; lengths without codes
    /// have the end of the length before. Ascending, 17 values, of which the first is 0.
    private(set) var ends: [UInt32] = [0]
    /// What has to be added to a code of each length to get its place among the symbols.
    private(set) var offsets: [Int] = [0]
    let symbols: [UInt8]
    /// The code of each symbol and its length.
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

/// A Huffman table as a file defines it: the key under which what is made of it is kept.
struct HuffmanDefinition: Hashable {
    enum Purpose: Hashable {
        /// Sizes of differences of the mean.
        case direct
        /// Runs of zeros and sizes of the values behind them.
        case alternating
    }

    let purpose: Purpose
    /// The number of codes of each length from 1 to 16.
    let counts: [UInt8]
    /// In the order of the codes.
    let symbols: [UInt8]

    /// Adds the tables of a DHT segment to those defined so far: four slots for each purpose.
    static func read(
        _ content: ArraySlice<UInt8>, into slots: inout [HuffmanDefinition?]
    ) throws(JPEGRefusal) {
        var rest = content
        while let kind = rest.popFirst() {
            guard kind >> 4 < 2, kind & 15 < 4, rest.count >= 16 else { throw .huffman }
            let counts = Array(rest.prefix(16))
            rest = rest.dropFirst(16)
            let total = counts.reduce(0) { $0 + Int($1) }
            guard total <= 256, rest.count >= total else { throw .huffman }
            let slot = Int(kind >> 4) * 4 + Int(kind & 15)
            slots[slot] = HuffmanDefinition(
                purpose: kind >> 4 == 0 ? .direct : .alternating,
                counts: counts,
                symbols: Array(rest.prefix(total)))
            rest = rest.dropFirst(total)
        }
    }
}

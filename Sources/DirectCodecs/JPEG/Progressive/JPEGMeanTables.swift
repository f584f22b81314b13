/// The tables in force while the means of a progressive file are decoded.
struct JPEGMeanTables {
    /// The first value of each quantisation table.
    private(set) var quantizers = [Int?](repeating: nil, count: 4)
    private(set) var codes = [HuffmanTable?](repeating: nil, count: 4)
    /// Units between two restarts; 0 for none.
    private(set) var restartInterval = 0

    /// Takes a segment of any kind; false when it is damaged.
    mutating func take(_ code: UInt8, _ content: UnsafeRawBufferPointer) -> Bool {
        switch code {
        case 0xDB: return takeQuantizers(content)
        case 0xC4: return takeCodes(content)
        case 0xDD:
            guard let interval = content.integer(at: 0, length: 2) else { return false }
            restartInterval = interval
            return true
        default: return true
        }
    }

    private mutating func takeQuantizers(_ content: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while let head = content.byte(at: offset) {
            let size = head >> 4 == 0 ? 1 : 2
            guard head >> 4 <= 1, head & 15 < 4, offset + 1 + 64 * size <= content.count,
                let first = content.integer(at: offset + 1, length: size)
            else { return false }
            quantizers[Int(head & 15)] = first
            offset += 1 + 64 * size
        }
        return true
    }

    private mutating func takeCodes(_ content: UnsafeRawBufferPointer) -> Bool {
        var offset = 0
        while let head = content.byte(at: offset) {
            guard head & 15 < 4, offset + 17 <= content.count else { return false }
            let counts = UnsafeRawBufferPointer(rebasing: content[offset + 1..<offset + 17])
            let end = offset + 17 + counts.reduce(0) { $0 + Int($1) }
            guard end <= content.count else { return false }
            // Tables for other coefficients are passed over.
            if head >> 4 == 0 {
                let symbols = UnsafeRawBufferPointer(rebasing: content[offset + 17..<end])
                guard let table = HuffmanTable(counts: counts, symbols: symbols) else {
                    return false
                }
                codes[Int(head & 15)] = table
            }
            offset = end
        }
        return true
    }
}

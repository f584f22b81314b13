/// How far the next 13 bits reach when their values do not matter: as many whole symbols at once as
/// have their codes in these bits. The value of the last may reach beyond them. Two bytes each:
///
/// - how many bits are used up, at most 23,
/// - how far the place in the block advances. `end` and 1 are added when the last symbol ends the block;
///   `unknown` stands where the first code is longer than 13 bits or is none.
///
/// A block's next place lies in 1...63. With the advance added, it is
/// - less than 64 when more symbols follow,
/// - 64, or `end` + 2 to `end` + 64, when the block has ended as it should,
/// - otherwise behind the end: less than `end` and more than 64, or more than `end` + 64. Then the
///   symbols have to be taken one by one, because the last of them may belong to the next block.
enum SkipTable {
    /// Bytes, so that a length is loaded ready for shifting.
    struct Entry {
        let length: UInt8
        let advance: UInt8
    }

    static let width = 13
    static let count = 1 << width
    static let end = 128
    static let unknown = 64

    static func entries(of code: HuffmanCode) -> [Entry] {
        let mask = count - 1
        let firsts = (0..<count).map { code.first(of: UInt32($0 << (16 - width))) }
        return (0..<count).map { index in
            var used = 0
            var advance = 0
            // No more than 63 coefficients follow the first.
            while used < width, let (symbol, length) = firsts[index << used & mask],
                used + length <= width,
                let coded = CodedSymbol(symbol, purpose: .alternating)
            {
                guard let step = coded.advance else {
                    return entry(bits: used + length, advance: advance + 1 + end)
                }
                guard advance + step <= 63 else { break }
                used += length + coded.size
                advance += step
            }
            return advance == 0
                ? entry(bits: 0, advance: unknown) : entry(bits: used, advance: advance)
        }
    }

    private static func entry(bits: Int, advance: Int) -> Entry {
        Entry(length: UInt8(bits), advance: UInt8(advance))
    }
}

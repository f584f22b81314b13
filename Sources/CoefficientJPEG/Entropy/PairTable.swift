/// What the next 11 bits mean as up to two symbols with their values, and the end of the block behind
/// them, in 64 bits each:
///
/// - bits 0–7: how many bits are used up,
/// - bits 8–15: coefficients to advance in all, and 1 more for the end of the block; `unknown` when the
///   first symbol needs more bits or no code is like them,
/// - bits 16–23 and 24–30: coefficients to advance to the first and from there to the second value; 0
///   when there is none, and then the value is 0 too,
/// - bit 31: the block ends,
/// - bits 32–47 and 48–63: the values, signed.
///
/// An entry whose advance leads behind place 64 must not be used as a whole, because the last of it
/// may belong to the next block.
enum PairTable {
    static let width = 11
    static let count = 1 << width
    static let unknown: UInt64 = 64 << 8

    static func entries(of code: HuffmanCode) -> [UInt64] {
        let mask = count - 1
        let firsts = (0..<count).map {
            code.firstValue(of: $0, width: width, purpose: .alternating)
        }
        return (0..<count).map { index in
            guard let first = firsts[index] else { return unknown }
            var used = first.length
            var advance = 1
            var entry: UInt64 = 0
            var hasEnded = first.advance == nil
            if let step = first.advance {
                advance = step
                entry = UInt64(step) << 16 | word(first.value) << 32
                if let second = fitting(firsts, index, used, mask) {
                    used += second.length
                    advance += second.advance ?? 1
                    hasEnded = second.advance == nil
                    if let step = second.advance {
                        entry |= UInt64(step) << 24 | word(second.value) << 48
                        if let third = fitting(firsts, index, used, mask), third.advance == nil {
                            used += third.length
                            advance += 1
                            hasEnded = true
                        }
                    }
                }
            }
            return UInt64(used) | UInt64(advance) << 8 | entry | (hasEnded ? 1 << 31 : 0)
        }
    }

    /// The symbol behind bits that are used, if all its bits are within the width.
    private static func fitting(
        _ firsts: [CodedValue?], _ index: Int, _ used: Int, _ mask: Int
    ) -> CodedValue? {
        guard let found = firsts[index << used & mask], used + found.length <= width else {
            return nil
        }
        return found
    }

    private static func word(_ value: Int) -> UInt64 {
        UInt64(UInt16(bitPattern: Int16(value)))
    }
}

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
    static let unknown: UInt64 = 64 << 8
    private static let end: UInt64 = 1 << 31

    static func entries(of code: HuffmanCode) -> [UInt64] {
        let firsts = CodedValue.all(of: code, width: width, purpose: .alternating)
        let mask = firsts.count - 1
        return firsts.indices.map { index in
            let first = firsts[index]
            guard first.length > 0 else { return unknown }
            guard first.advance > 0 else { return entry(used: first.length, advance: 1) | end }
            let values = UInt64(first.advance) << 16 | word(first.value) << 32
            // The second, if all its bits are within the width.
            let second = firsts[index << first.length & mask]
            var used = first.length + second.length
            guard second.length > 0, used <= width else {
                return entry(used: first.length, advance: first.advance) | values
            }
            guard second.advance > 0 else {
                return entry(used: used, advance: first.advance + 1) | values | end
            }
            let both = values | UInt64(second.advance) << 24 | word(second.value) << 48
            let advance = first.advance + second.advance
            let third = firsts[index << used & mask]
            guard third.length > 0, third.advance == 0, used + third.length <= width else {
                return entry(used: used, advance: advance) | both
            }
            used += third.length
            return entry(used: used, advance: advance + 1) | both | end
        }
    }

    private static func entry(used: Int, advance: Int) -> UInt64 {
        UInt64(used) | UInt64(advance) << 8
    }

    private static func word(_ value: Int) -> UInt64 {
        UInt64(UInt16(bitPattern: Int16(value)))
    }
}

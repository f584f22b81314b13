/// Takes bits, the first at the top, out of memory that it does not check: `ScanBytes` sees to it that
/// enough follows.
///
/// It is handed down as `inout` and otherwise kept in a local variable, so that it lives in registers.
struct BitReader {
    /// The next bits at the top. Below the first `count` there may be more of what follows.
    private(set) var bits: UInt64 = 0
    /// The number of bits that may be taken; 0...63.
    private(set) var count = 0
    /// The first byte of which not all bits are counted.
    private(set) var next: UnsafeRawPointer

    init(_ start: UnsafeRawPointer) {
        next = start
    }

    /// Makes 56 bits or more ready. Reads eight bytes from `next`.
    @inline(__always)
    mutating func refill() {
        let fresh = UInt64(bigEndian: next.loadUnaligned(as: UInt64.self))
        bits |= fresh &>> UInt64(truncatingIfNeeded: count)
        next += (63 &- count) &>> 3
        count |= 56
    }

    /// The next bits as a number, at most as many as are ready.
    @inline(__always)
    func peek(_ width: Int) -> Int {
        Int(truncatingIfNeeded: bits &>> UInt64(truncatingIfNeeded: 64 &- width))
    }

    /// Goes on by so many bits, at most as many as are ready.
    @inline(__always)
    mutating func skip(_ width: Int) {
        bits &<<= UInt64(truncatingIfNeeded: width)
        count &-= width
    }

    /// The number of unread bits before `end`; negative when the reader is past it.
    func unreadBits(before end: UnsafeRawPointer) -> Int {
        (end - next) * 8 + count
    }

    /// Goes back to whole bytes and moves to where the rest of them has been moved to.
    mutating func rebase(to start: UnsafeRawPointer) {
        next = start
        count &= 7
        bits = count == 0 ? 0 : bits & ~(UInt64.max &>> UInt64(count))
    }

    /// The first byte of which no bit is ready, if only whole bytes were read ahead.
    var unread: UnsafeRawPointer { next - count / 8 }
}

struct ReadSymbol {
    /// Coefficients to advance; 0 at the end of a block, `damage` when there is no such code.
    let advance: Int
    let value: Int

    /// Leads behind the end of any block.
    static let damage = 1_000
}

extension BitReader {
    /// Takes the size of a difference and the difference: at most 27 bits, which have to be ready.
    @inline(__always)
    mutating func readDifference(_ table: UnsafePointer<EntropyLookup>) -> ReadSymbol {
        // 11 bits: less than 2,048.
        let entry = table.pointee.values[peek(ValueTable.width)]
        let length = Int(truncatingIfNeeded: entry & 255)
        guard length > 0 else { return readLongSymbol(table) }
        skip(length)
        return ReadSymbol(
            advance: 1, value: Int(truncatingIfNeeded: Int32(bitPattern: entry) &>> 16))
    }

    /// Takes one symbol and its value without a table: at most 27 bits, which have to be ready.
    @inline(__always)
    mutating func readLongSymbol(_ table: UnsafePointer<EntropyLookup>) -> ReadSymbol {
        let (symbol, length) = EntropyLookup.longSymbol(table, bits)
        skip(length)
        return symbol
    }

    /// Reads values from a place of the zigzag order, 1...63, until a place behind the last that
    /// matters is reached or the block ends; adds each to what is at its place by `add`.
    ///
    /// Returns the place reached: 64 at the block's end, more when the block is not as it should be.
    /// The places given to `add` are in 0...63.
    @inline(__always)
    mutating func readValues(
        _ table: UnsafePointer<EntropyLookup>, through last: Int, add: (Int, Int) -> Void
    ) -> Int {
        var place = 1
        while place <= last {
            refill()
            // 11 bits: less than 2,048.
            let entry = table.pointee.pairs[peek(PairTable.width)]
            let word = Int(truncatingIfNeeded: entry)
            guard place &+ (word &>> 8 & 255) <= 64 else {
                let symbol = readLongSymbol(table)
                guard symbol.advance > 0 else { return 64 }
                place &+= symbol.advance
                guard place <= 64 else { return place }
                add(place &- 1, symbol.value)
                continue
            }
            skip(word & 255)
            place &+= word &>> 16 & 255
            add(place &- 1, Int(truncatingIfNeeded: Int32(truncatingIfNeeded: word &>> 16) &>> 16))
            place &+= word &>> 24 & 127
            add(place &- 1, word &>> 48)
            if entry & 1 &<< 31 != 0 { return 64 }
        }
        return place
    }

    /// Skips the rest of a block from the place it has reached, 1...64. False when it is malformed.
    @inline(__always)
    mutating func skipBlock(from start: Int, _ table: UnsafePointer<EntropyLookup>) -> Bool {
        var place = start
        while place < 64 {
            refill()
            // 13 bits: less than 8,192. Of the 56 bits ready an entry takes 23 at most, so that two
            // are looked up in turn.
            var entry = table.pointee.skips[peek(SkipTable.width)]
            var reached = place &+ Int(entry.advance)
            if reached < 64 {
                skip(Int(entry.length))
                place = reached
                entry = table.pointee.skips[peek(SkipTable.width)]
                reached = place &+ Int(entry.advance)
                if reached < 64 {
                    skip(Int(entry.length))
                    place = reached
                    continue
                }
            }
            if reached & (SkipTable.end - 1) <= 64 {
                skip(Int(entry.length))
                return true
            }
            // 33 bits are left at least.
            let symbol = readLongSymbol(table)
            guard symbol.advance > 0 else { return true }
            place &+= symbol.advance
        }
        return place == 64
    }
}

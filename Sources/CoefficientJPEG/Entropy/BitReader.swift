/// Takes bits, the first at the top, out of memory that it does not check: `ScanBytes` sees to it that
/// enough follows.
///
/// It is handed down as `inout` and otherwise kept in a local variable, so that it lives in registers.
struct BitReader {
    /// The next bits at the top. Below the first `count` there may be more of what follows.
    private(set) var bits: UInt64 = 0
    /// How many bits may be taken; 0...63.
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

    /// What is left before the end of what there is; negative when the reader is behind it.
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

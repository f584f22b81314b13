/// The bits of a scan, without the zeros that are stuffed behind each 0xFF.
struct EntropyReader {
    private let bytes: UnsafeRawBufferPointer
    /// The next byte that is not in the window.
    private var offset: Int
    /// The next bits, from the highest on.
    private var window: UInt64 = 0
    /// How many of them there are.
    private var available = 0
    /// The last of them, which are not in the file any more.
    private var invented = 0

    /// - Parameter offset: Where the scan's bits begin.
    init(_ bytes: UnsafeRawBufferPointer, from offset: Int) {
        self.bytes = bytes
        self.offset = offset
    }

    /// Whether bits were taken behind the end of the scan.
    var isExhausted: Bool { available < invented }

    /// The next sixteen bits, which stay the next ones.
    @inline(__always)
    mutating func peek16() -> Int {
        if available < 16 { refill() }
        return Int(window >> 48)
    }

    /// Passes over as many bits, up to sixteen, that have been looked at.
    @inline(__always)
    mutating func skip(_ count: Int) {
        window <<= UInt64(truncatingIfNeeded: count)
        available &-= count
    }

    /// The next `count` bits, one to sixteen.
    @inline(__always)
    mutating func take(_ count: Int) -> Int {
        let bits = peek16() &>> (16 &- count)
        skip(count)
        return bits
    }

    /// Goes on behind the restart mark of `number`; false when that is not what follows.
    mutating func restart(_ number: Int) -> Bool {
        if available < 8 { refill() }
        // Of the bits that are left, those of the scan are the padding of its last byte.
        guard !isExhausted, available - invented < 8, offset + 1 < bytes.count,
            bytes[offset] == 0xFF, bytes[offset + 1] == 0xD0 + UInt8(number & 7)
        else { return false }
        offset += 2
        window = 0
        available = 0
        invented = 0
        return true
    }

    private mutating func refill() {
        while available <= 48 {
            var byte: UInt8 = 0
            if offset < bytes.count, bytes[offset] != 0xFF {
                byte = bytes[offset]
                offset += 1
            } else if offset + 1 < bytes.count, bytes[offset + 1] == 0 {
                byte = 0xFF
                offset += 2
            } else {
                // A mark, or the end of the file: zeros, which nothing should need.
                invented += 8
            }
            window |= UInt64(byte) << UInt64(56 - available)
            available += 8
        }
    }
}

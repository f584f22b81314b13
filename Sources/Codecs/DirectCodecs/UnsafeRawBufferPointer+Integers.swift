extension UInt8 {
    /// Whether it may stand in a name of XML or CSS: a letter, a digit, `-`, `_`, and what is beyond ASCII.
    package var isNameByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}

/// Numbers at places in bytes that may be anything: every read is checked.
extension UnsafeRawBufferPointer {
    /// The byte at `offset`, or `nil` outside of the bytes.
    func byte(at offset: Int) -> UInt8? {
        offset >= 0 && offset < count ? self[offset] : nil
    }

    /// The unsigned number of `length` bytes (up to 4) at `offset`, or `nil` outside of the bytes.
    func integer(at offset: Int, length: Int, littleEndian: Bool = false) -> Int? {
        guard offset >= 0, offset <= count, length <= count - offset else { return nil }
        var value = 0
        for index in 0..<length {
            let byte = Int(self[offset + index])
            value |= byte << (8 * (littleEndian ? index : length - 1 - index))
        }
        return value
    }

    /// Whether the bytes at `offset` are those of `text`.
    func hasText(_ text: StaticString, at offset: Int) -> Bool {
        guard offset >= 0, offset <= count, text.utf8CodeUnitCount <= count - offset else {
            return false
        }
        return (0..<text.utf8CodeUnitCount).allSatisfy {
            self[offset + $0] == text.utf8Start[$0]
        }
    }
}

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

/// Numbers and texts at places in bytes that may be anything: every read is checked.
extension UnsafeRawBufferPointer {
    /// The byte at `offset`, or `nil` outside of the bytes.
    @inlinable package func byte(at offset: Int) -> UInt8? {
        offset >= 0 && offset < count ? self[offset] : nil
    }

    /// The unsigned big-endian number of `length` bytes at `offset`; one of none is 0.
    ///
    /// - Returns: `nil` where some of the bytes are missing, and for a number of more than 48 bits, with which
    ///   nobody could calculate without looking at each sum.
    @inlinable package func bigEndian(_ offset: Int, _ length: Int) -> Int? {
        integer(at: offset, length: length, littleEndian: false)
    }

    /// As ``bigEndian(_:_:)``, with the lowest byte first.
    @inlinable package func littleEndian(_ offset: Int, _ length: Int) -> Int? {
        integer(at: offset, length: length, littleEndian: true)
    }

    /// As ``bigEndian(_:_:)``, in the order of a file that tells its own.
    @inlinable package func integer(at offset: Int, length: Int, littleEndian: Bool) -> Int? {
        guard let bytes = slice(offset, count: length) else { return nil }
        var value: UInt64 = 0
        for index in 0..<length {
            let byte = bytes[littleEndian ? length - 1 - index : index]
            guard value < 1 << 40 else { return nil }
            value = value << 8 | UInt64(byte)
        }
        return Int(value)
    }

    /// The `count` bytes from `offset`, or `nil` when some are missing.
    @inlinable package func slice(_ offset: Int, count: Int) -> UnsafeRawBufferPointer? {
        guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else {
            return nil
        }
        return UnsafeRawBufferPointer(rebasing: self[offset..<offset + count])
    }

    /// Whether the bytes at `offset` are those of `text`.
    @inlinable package func hasText(_ text: StaticString, at offset: Int = 0) -> Bool {
        guard let bytes = slice(offset, count: text.utf8CodeUnitCount) else { return false }
        return text.withUTF8Buffer { bytes.elementsEqual($0) }
    }
}

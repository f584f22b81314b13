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

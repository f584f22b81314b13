/// What the next 11 bits mean as the size of a difference with the difference itself, in 32 bits each:
///
/// - bits 0–7: how many bits are used up; 0 when these are more, or no code is like them,
/// - bits 16–31: the difference, signed.
enum ValueTable {
    static let width = 11
    static let count = 1 << width

    static func entries(of code: HuffmanCode) -> [UInt32] {
        (0..<count).map { index in
            guard
                let read = code.firstValue(of: index, width: width, purpose: .direct)
            else { return 0 }
            return UInt32(read.length) | UInt32(UInt16(bitPattern: Int16(read.value))) << 16
        }
    }
}

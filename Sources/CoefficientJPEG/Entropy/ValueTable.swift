/// What the next 11 bits mean as the size of a difference with the difference itself, in 32 bits each:
///
/// - bits 0–7: how many bits are used up; 0 when these are more, or no code is like them,
/// - bits 16–31: the difference, signed.
enum ValueTable {
    static let width = 11

    static func entries(of code: HuffmanCode) -> [UInt32] {
        CodedValue.all(of: code, width: width, purpose: .direct).map {
            UInt32($0.length) | UInt32(UInt16(bitPattern: Int16($0.value))) << 16
        }
    }
}

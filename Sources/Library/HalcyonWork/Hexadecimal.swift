extension String {
    /// `bytes` as two lower-case hexadecimal digits each.
    package init(hexadecimal bytes: [UInt8]) {
        self.init(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            let digits: StaticString = "0123456789abcdef"
            for (place, byte) in bytes.enumerated() {
                buffer[2 * place] = digits.utf8Start[Int(byte >> 4)]
                buffer[2 * place + 1] = digits.utf8Start[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }

    /// 128 random bits as hexadecimal digits: a name that nobody has and nobody can guess.
    package static func randomHexadecimal() -> String {
        // By words, because every number is a call of the system.
        let words = (0..<2).map { _ in UInt64.random(in: .min ... .max) }
        return String(hexadecimal: words.withUnsafeBytes { Array($0) })
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; `nil` for any other character.
    package init?(hexadecimalDigit byte: UInt8) {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self = byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self = byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self = byte - UInt8(ascii: "A") + 10
        default: return nil
        }
    }
}

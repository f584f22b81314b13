/// Bytes written as `%XX` (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// `text` with each `%XX` replaced by its byte, once; `+` stays. `nil` when a `%` is not followed
    /// by two hexadecimal digits, or when the bytes are not UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(UInt8.init(hexadecimalDigit:)),
                let low = rest.popFirst().flatMap(UInt8.init(hexadecimalDigit:))
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// `text` with all bytes but letters, digits, `-._~` and those of `kept` as `%XX`.
    package static func encode(_ text: String, keeping kept: String = "") -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isUnreserved || kept.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension UInt8 {
    /// `unreserved` of RFC 3986, section 2.3.
    package var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-._~".utf8.contains(self)
        }
    }
}

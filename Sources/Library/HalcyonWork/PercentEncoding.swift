/// Bytes written as `%XX` (RFC 3986, section 2.1).
package enum PercentEncoding {
    /// `text` with each `%XX` replaced by its byte, once; `+` stays. `nil` when a `%` is not followed
    /// by two hexadecimal digits, or when the bytes are not UTF-8.
    package static func decode(_ text: some StringProtocol) -> String? {
        bytes(Substring(text).utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// The bytes of `text` with each `%XX` replaced by its byte. `nil` when a `%` is not followed by two
    /// hexadecimal digits.
    package static func bytes<Text: Collection<UInt8>>(_ text: Text) -> [UInt8]?
    where Text.SubSequence == Text {
        bytes(text, isLenient: false)
    }

    /// As above, but a `%` that is not followed by two hexadecimal digits stays as it is.
    package static func lenientBytes<Text: Collection<UInt8>>(_ text: Text) -> [UInt8]
    where Text.SubSequence == Text {
        // Leniency always gives a result.
        bytes(text, isLenient: true) ?? []
    }

    private static func bytes<Text: Collection<UInt8>>(_ text: Text, isLenient: Bool) -> [UInt8]?
    where Text.SubSequence == Text {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            var digits = rest.prefix(2)
            if let high = digits.popFirst().flatMap(UInt8.init(hexadecimalDigit:)),
                let low = digits.popFirst().flatMap(UInt8.init(hexadecimalDigit:))
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else if isLenient {
                bytes.append(byte)
            } else {
                return nil
            }
        }
        return bytes
    }

    /// `text` with all bytes but letters, digits, `-._~` and those of `kept` as `%XX`.
    package static func encode(_ text: String, keeping kept: String = "") -> String {
        encode(text.utf8, keeping: kept)
    }

    /// As above, for bytes that need not be text.
    package static func encode(_ text: some Sequence<UInt8>, keeping kept: String = "") -> String {
        var bytes: [UInt8] = []
        for byte in text {
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

import HalcyonWork

/// `Content-Range: bytes 5-9/10` (RFC 9110, section 14.4).
package struct ContentRange: Sendable, Hashable {
    /// Positions of the first and the last byte, both included.
    package let first: Int64
    package let last: Int64
    /// The length of the whole, `nil` for `*`.
    package let total: Int64?

    package var count: Int64 { last - first + 1 }

    /// `nil` for anything but a range of bytes with `first ≤ last < total`. The unit may have any
    /// case; after it comes one space, and there are no others.
    package init?(_ text: String) {
        var reader = FieldReader(text)
        guard reader.take(while: \.isLetter).lowercasedASCII == "bytes", reader.take(.space),
            let first = reader.position64(), reader.take(UInt8(ascii: "-")),
            let last = reader.position64(), last >= first, last < .max,
            reader.take(UInt8(ascii: "/"))
        else { return nil }
        if reader.take(UInt8(ascii: "*")) {
            total = nil
        } else {
            guard let total = reader.position64(), last < total else { return nil }
            self.total = total
        }
        guard reader.isAtEnd else { return nil }
        self.first = first
        self.last = last
    }

    /// The one `Content-Range` of a message; `nil` when there are several lines.
    package init?(of fields: HTTPFields) {
        let lines = fields.values("Content-Range")
        guard lines.count == 1 else { return nil }
        self.init(lines[0].trimmingFieldSpaces)
    }
}

extension FieldReader {
    /// Digits, as far as they fit into 63 bits.
    mutating func position64() -> Int64? {
        let digits = take(while: \.isDigit)
        return digits.isEmpty ? nil : Int64(digits)
    }
}

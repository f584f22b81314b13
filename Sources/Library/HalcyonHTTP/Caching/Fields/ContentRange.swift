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

/// The one range of bytes that a `Range` field asks for (RFC 9110, section 14.1.2).
package enum RequestedRange: Sendable, Hashable {
    /// `bytes=5-9`, `bytes=5-`
    case from(Int64, through: Int64?)
    /// `bytes=-5`
    case suffix(Int64)

    /// `nil` for several ranges, other units and everything that is no range.
    package init?(_ text: String) {
        var reader = FieldReader(text)
        guard reader.take(while: \.isLetter).lowercasedASCII == "bytes", reader.take(.equals) else {
            return nil
        }
        let first = reader.position64()
        guard reader.take(UInt8(ascii: "-")) else { return nil }
        let last = reader.position64()
        guard reader.isAtEnd else { return nil }
        switch (first, last) {
        case (let first?, let last?) where last < first: return nil
        case (let first?, let last): self = .from(first, through: last)
        case (nil, let length?): self = .suffix(length)
        case (nil, nil): return nil
        }
    }

    /// The positions asked for in a body of `count` bytes; `nil` when none of them exists.
    package func positions(count: Int) -> Range<Int>? {
        let total = Int64(count)
        switch self {
        case .from(let first, let last):
            guard first < total else { return nil }
            return Int(first)..<(last.map { Int(min($0, total - 1)) + 1 } ?? count)
        case .suffix(let length):
            guard length > 0, count > 0 else { return nil }
            return (count - Int(min(length, total)))..<count
        }
    }
}

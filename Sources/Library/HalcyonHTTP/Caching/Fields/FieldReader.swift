package import Foundation
import HalcyonWork

/// Reads a field's value from the left to the right: the elements that most fields are made of
/// (RFC 9110, section 5.6).
///
/// Every method takes what it names or leaves the position where it was. No method looks at a byte
/// twice, so that reading takes linear time.
struct FieldReader {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    var isAtEnd: Bool { position == bytes.count }

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    var previous: UInt8? { position > 0 ? bytes[position - 1] : nil }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// The longest run of bytes that `belongs` holds for, perhaps empty.
    mutating func take(while belongs: (UInt8) -> Bool) -> String {
        let start = position
        while let byte = next, belongs(byte) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    mutating func skipSpaces() {
        while let byte = next, byte == .space || byte == .tab { position += 1 }
    }

    /// A token, `nil` when none begins here.
    mutating func token() -> String? {
        let text = take(while: \.isTokenByte)
        return text.isEmpty ? nil : text
    }

    /// A quoted string without its quotes and escapes, when the next byte is a quote. `nil` when
    /// its closing quote is missing: everything up to the end has then been read.
    mutating func quotedString() -> String? {
        guard take(.quote) else { return nil }
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == .quote { return String(decoding: text, as: UTF8.self) }
            if byte != .backslash {
                text.append(byte)
            } else if let escaped = next {
                position += 1
                text.append(escaped)
            }
        }
        return nil
    }

    /// Reads up to the next comma outside quoted strings. `false` when a quoted string has no end.
    mutating func skipMember() -> Bool {
        while let byte = next, byte != .comma {
            if byte == .quote {
                guard quotedString() != nil else { return false }
            } else {
                position += 1
            }
        }
        return true
    }
}

extension UInt8 {
    static let tab = UInt8(ascii: "\t")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let comma = UInt8(ascii: ",")
    static let equals = UInt8(ascii: "=")
    static let backslash = UInt8(ascii: "\\")
}

/// Whole seconds as caching fields write them (RFC 9111, section 1.2.2).
package enum DeltaSeconds {
    /// The value of all greater numbers.
    package static let maximum: TimeInterval = 2_147_483_648

    /// The seconds in `text`: ASCII digits and nothing else, at most ``maximum``; `nil` for any
    /// other text.
    package static func parse(_ text: String) -> TimeInterval? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        var seconds: TimeInterval = 0
        for digit in text.utf8 {
            seconds = min(maximum, seconds * 10 + TimeInterval(digit - 0x30))
        }
        return seconds
    }

    /// The first member of the first `Age` line, `nil` when it is no number
    /// (RFC 9111, section 5.1).
    package static func age(in fields: HTTPFields) -> TimeInterval? {
        guard let line = fields.first("Age") else { return nil }
        let member = line.utf8.prefix { $0 != .comma }
        return parse(String(decoding: member, as: UTF8.self).trimmingFieldSpaces)
    }
}

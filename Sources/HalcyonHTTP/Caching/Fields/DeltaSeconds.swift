package import Foundation

/// Whole seconds as caching fields write them (RFC 9111, section 1.2.2).
package enum DeltaSeconds {
    /// What all greater numbers count as.
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

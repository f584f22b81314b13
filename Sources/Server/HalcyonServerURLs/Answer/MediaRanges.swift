import HalcyonWork

/// The media ranges of the header field `Accept` (RFC 9110, section 12.5.1).
///
/// Unreadable members are left out.
package struct MediaRanges: Sendable, Hashable {
    private struct Range: Hashable {
        /// In lower case, without parameters.
        let name: String
        /// 0…1000.
        let quality: Int
    }

    private let ranges: [Range]

    /// - Parameter lines: All values of the field; without any, everything is accepted.
    package init(_ lines: [String]) {
        ranges =
            lines.isEmpty
            ? [Range(name: "*/*", quality: 1000)]
            : FieldMembers.members(of: lines).compactMap(Self.range)
    }

    /// The quality of an explicitly named type, 0…1000; `nil` when it is not named.
    package func quality(named type: String) -> Int? {
        ranges.filter { $0.name == type }.map(\.quality).max()
    }

    /// The quality of a type, 0…1000, by its most specific range: 0 when there is none.
    package func quality(of type: String) -> Int {
        let group = (type.split(separator: "/").first ?? "") + "/*"
        return quality(named: type) ?? quality(named: String(group)) ?? quality(named: "*/*") ?? 0
    }

    private static func range(_ member: String) -> Range? {
        let parts = FieldMembers.parts(of: member, at: UInt8(ascii: ";")).map(\.trimmingSpaces)
        let name = (parts.first ?? "").lowercased()
        let types = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard types.count == 2,
            types.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isTokenByte) })
        else { return nil }
        var quality = 1000
        for parameter in parts.dropFirst() {
            let pair = parameter.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, pair[0].trimmingSpaces.lowercased() == "q" else { continue }
            guard let value = thousandths(pair[1].trimmingSpaces) else { return nil }
            quality = value
        }
        return Range(name: name, quality: quality)
    }

    /// `qvalue`: 0…1 with up to three decimals.
    private static func thousandths(_ text: String) -> Int? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts[0] == "0" || parts[0] == "1" else { return nil }
        let decimals = parts.count == 2 ? parts[1] : ""
        guard decimals.utf8.count <= 3, decimals.utf8.allSatisfy(\.isDigit) else { return nil }
        let padded = decimals + String(repeating: "0", count: 3 - decimals.utf8.count)
        guard let fraction = Int(padded) else { return nil }
        let value = (parts[0] == "1" ? 1000 : 0) + fraction
        return value <= 1000 ? value : nil
    }
}

/// The members of a list-valued header field. Commas in quotes do not separate.
enum FieldMembers {
    /// At most the first 1,000 of each line, without spaces around them; empty ones are left out.
    static func members(of lines: [String]) -> [String] {
        lines.flatMap { line in
            parts(of: line, at: UInt8(ascii: ",")).lazy.map(\.trimmingSpaces)
                .filter { !$0.isEmpty }.prefix(1000)
        }
    }

    /// The parameters of a member: names in lower case, and values without quotes.
    static func parameters(of member: String) -> [(name: String, value: String)] {
        parts(of: member, at: UInt8(ascii: ";")).compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1).map(\.trimmingSpaces)
            guard parts.count == 2 else { return nil }
            return (parts[0].lowercased(), parts[1].filter { $0 != "\"" })
        }
    }

    /// The text between separators outside of quoted strings.
    static func parts(of text: String, at separator: UInt8) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return text.utf8.split(omittingEmptySubsequences: false) { byte in
            defer { isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\") }
            if byte == UInt8(ascii: "\""), !isEscaped { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }.map { Substring($0) }
    }
}

import HalcyonWork

/// The header fields of a message in the order received. A name may come several times; its case
/// does not count.
package struct HTTPFields: Sendable, Hashable {
    package struct Line: Sendable, Hashable {
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package private(set) var lines: [Line]

    package init(_ lines: [Line] = []) {
        self.lines = lines
    }

    package func contains(_ name: String) -> Bool {
        lines.contains { $0.name.isFieldName(name) }
    }

    package func first(_ name: String) -> String? {
        lines.first { $0.name.isFieldName(name) }?.value
    }

    package func values(_ name: String) -> [String] {
        lines.filter { $0.name.isFieldName(name) }.map(\.value)
    }

    /// The members of the lists in all lines of `name` (RFC 9110, section 5.6.1).
    package func members(_ name: String) -> [String] { values(name).flatMap(\.fieldMembers) }

    package mutating func append(_ name: String, _ value: String) {
        lines.append(Line(name: name, value: value))
    }

    /// Puts one line in the place of all lines of `name`.
    package mutating func set(_ name: String, to value: String) {
        lines.removeAll { $0.name.isFieldName(name) }
        append(name, value)
    }

    /// Removes all lines of these names, which are given in lower case.
    package mutating func remove(_ names: Set<String>) {
        lines.removeAll { names.contains($0.name.lowercasedASCII) }
    }

    /// The bytes of names and values, and four for each line (`: ` and its end).
    package var byteCount: Int {
        lines.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { Line(name: $0.0, value: $0.1) })
    }
}

/// Coded as a list of pairs: `[["ETag", "\"a\""], …]`.
extension HTTPFields: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        lines = try container.decode([[String]].self).map { pair in
            guard pair.count == 2 else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "a field is a name and a value")
            }
            return Line(name: pair[0], value: pair[1])
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(lines.map { [$0.name, $0.value] })
    }
}

extension String {
    /// With `A`–`Z` in lower case and nothing else changed: names in HTTP know no other letters.
    var lowercasedASCII: String {
        guard utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return self }
        return String(
            decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// Without spaces and tabs at both ends (`OWS` of RFC 9110, section 5.6.3).
    var trimmingFieldSpaces: String {
        String(decoding: utf8.trimming { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
    }

    /// The members of a list, without empty ones.
    package var fieldMembers: [String] {
        utf8.split(separator: .comma)
            .map { String(decoding: $0, as: UTF8.self).trimmingFieldSpaces }
            .filter { !$0.isEmpty }
    }

    func isFieldName(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && utf8.elementsEqual(other.utf8) { one, two in
                one == two || (one ^ two == 0x20 && one.isLetter)
            }
    }
}

extension BidirectionalCollection<UInt8> {
    /// Without what is to be left out at both ends.
    func trimming(_ isLeftOut: (UInt8) -> Bool) -> SubSequence {
        let rest = drop(while: isLeftOut)
        return rest.lastIndex { !isLeftOut($0) }.map { rest[...$0] } ?? rest[..<rest.startIndex]
    }
}

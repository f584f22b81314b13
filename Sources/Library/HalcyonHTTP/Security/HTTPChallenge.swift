/// One challenge in a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
package struct HTTPChallenge: Equatable, Sendable {
    /// In lower case.
    package let scheme: String
    /// Names are in lower case; of a name given twice the first value counts.
    package var parameters: [String: String] = [:]

    /// The challenges of a field, in order. What makes no sense is skipped.
    package static func parse(_ field: String) -> [HTTPChallenge] {
        var challenges: [HTTPChallenge] = []
        var reader = FieldReader(field)
        while let name = reader.challengeName() {
            guard reader.skipEqualsSign() else {
                challenges.append(HTTPChallenge(scheme: name))
                continue
            }
            // No value is the end of a `token68`, which no scheme known here has.
            guard let value = reader.challengeValue(), !challenges.isEmpty else { continue }
            challenges[challenges.count - 1].parameters.merge([name: value]) { first, _ in first }
        }
        return challenges
    }
}

extension FieldReader {
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        [.space, .tab, .comma, .equals, .quote].contains(byte)
    }

    /// The name of a scheme or a parameter, in lower case; `nil` at the end.
    fileprivate mutating func challengeName() -> String? {
        _ = take(while: Self.isDelimiter)
        return isAtEnd ? nil : take { !Self.isDelimiter($0) }.lowercased()
    }

    /// Skips the sign that makes a name that of a parameter; `false` when there is none.
    fileprivate mutating func skipEqualsSign() -> Bool {
        var rest = self
        rest.skipSpaces()
        guard rest.take(.equals) else { return false }
        rest.skipSpaces()
        self = rest
        return true
    }

    /// A token or a quoted string, without its quotes.
    fileprivate mutating func challengeValue() -> String? {
        if next == .quote { return quotedString() }
        let value = take { !Self.isDelimiter($0) }
        return value.isEmpty ? nil : value
    }
}

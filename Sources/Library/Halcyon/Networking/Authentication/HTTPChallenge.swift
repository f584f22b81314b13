/// One challenge in a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
struct HTTPChallenge: Equatable, Sendable {
    /// In lower case.
    let scheme: String
    /// Names are in lower case; of a name given twice the first value counts.
    var parameters: [String: String] = [:]

    /// The challenges of a field, in order. What makes no sense is skipped.
    static func parse(_ field: String) -> [HTTPChallenge] {
        var challenges: [HTTPChallenge] = []
        var scanner = ChallengeScanner(field)
        while let name = scanner.nextName() {
            guard scanner.skipEqualsSign() else {
                challenges.append(HTTPChallenge(scheme: name.lowercased()))
                continue
            }
            // No value is the end of a `token68`, which no scheme known here has.
            guard let value = scanner.nextValue(), !challenges.isEmpty else { continue }
            let last = challenges.count - 1
            if challenges[last].parameters[name.lowercased()] == nil {
                challenges[last].parameters[name.lowercased()] = value
            }
        }
        return challenges
    }
}

/// Reads the names and values of a challenge field from left to right.
private struct ChallengeScanner {
    private let text: [UInt8]
    private var position = 0

    init(_ text: String) {
        self.text = Array(text.utf8)
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skip(while matches: (UInt8) -> Bool) {
        while let byte = next, matches(byte) { position += 1 }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isDelimiter(_ byte: UInt8) -> Bool {
        isSpace(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "=")
            || byte == UInt8(ascii: "\"")
    }

    private mutating func token() -> String {
        let start = position
        skip { !Self.isDelimiter($0) }
        return String(decoding: text[start..<position], as: UTF8.self)
    }

    /// The name of a scheme or a parameter; `nil` at the end.
    mutating func nextName() -> String? {
        skip(while: Self.isDelimiter)
        return next == nil ? nil : token()
    }

    /// Skips the sign that makes a name that of a parameter; `false` when there is none.
    mutating func skipEqualsSign() -> Bool {
        let start = position
        skip(while: Self.isSpace)
        guard next == UInt8(ascii: "=") else {
            position = start
            return false
        }
        position += 1
        skip(while: Self.isSpace)
        return true
    }

    /// A token or a quoted string, without its quotes.
    mutating func nextValue() -> String? {
        guard next == UInt8(ascii: "\"") else {
            let value = token()
            return value.isEmpty ? nil : value
        }
        position += 1
        var value: [UInt8] = []
        while let byte = next {
            position += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
            if byte == UInt8(ascii: "\\"), let escaped = next {
                value.append(escaped)
                position += 1
            } else {
                value.append(byte)
            }
        }
        return nil
    }
}

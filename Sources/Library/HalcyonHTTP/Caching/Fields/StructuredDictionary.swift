import HalcyonWork

/// A dictionary of Structured Fields (RFC 9651, section 4.2.2), as far as targeted cache control
/// needs it: keys with integers, with flags, or with something else.
struct StructuredDictionary {
    enum Value: Hashable {
        case integer(Int)
        case boolean(Bool)
        /// A string, token, number with a fraction, byte sequence, date or inner list.
        case other
    }

    /// The members by key; the last value of a repeated key wins.
    private(set) var members: [String: Value] = [:]

    /// `nil` when the text does not parse as a whole.
    init?(_ text: String) {
        var reader = FieldReader(text)
        _ = reader.take { $0 == .space }
        while !reader.isAtEnd {
            guard let key = reader.structuredKey() else { return nil }
            var value = Value.boolean(true)
            if reader.take(.equals) {
                guard let read = reader.itemOrInnerList() else { return nil }
                value = read
            }
            guard reader.skipParameters() else { return nil }
            members[key] = value
            reader.skipSpaces()
            if reader.isAtEnd { return }
            guard reader.take(.comma) else { return nil }
            reader.skipSpaces()
            if reader.isAtEnd { return nil }
        }
    }
}

extension FieldReader {
    fileprivate mutating func structuredKey() -> String? {
        guard let first = next, first.isLowercaseLetter || first == UInt8(ascii: "*") else {
            return nil
        }
        return take {
            $0.isLowercaseLetter || $0.isDigit || "_-.*".utf8.contains($0)
        }
    }

    fileprivate mutating func itemOrInnerList() -> StructuredDictionary.Value? {
        guard take(UInt8(ascii: "(")) else { return bareItem() }
        while true {
            let spaces = take { $0 == .space }
            if take(UInt8(ascii: ")")) { return .other }
            // Items stand apart; the first one may follow the parenthesis at once.
            let isFirst = previous == UInt8(ascii: "(")
            guard isFirst || !spaces.isEmpty, bareItem() != nil, skipParameters() else {
                return nil
            }
        }
    }

    /// Skips any number of `;key=item`; parameters have no meaning here.
    fileprivate mutating func skipParameters() -> Bool {
        while take(UInt8(ascii: ";")) {
            _ = take { $0 == .space }
            guard structuredKey() != nil else { return false }
            if take(.equals), bareItem() == nil { return false }
        }
        return true
    }

    private mutating func bareItem() -> StructuredDictionary.Value? {
        guard let first = next else { return nil }
        switch first {
        case .quote: return structuredString() ? .other : nil
        case UInt8(ascii: "?"): return boolean()
        case UInt8(ascii: ":"): return byteSequence() ? .other : nil
        case UInt8(ascii: "@"):
            _ = take(first)
            if case .integer = number() { return .other }
            return nil
        case UInt8(ascii: "%"):
            _ = take(first)
            return structuredString() ? .other : nil
        case UInt8(ascii: "*"):
            return structuredToken()
        default:
            return first.isLetter ? structuredToken() : number()
        }
    }

    private mutating func structuredToken() -> StructuredDictionary.Value {
        _ = take { $0.isTokenByte || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        return .other
    }

    /// At most 15 digits, or 12 before and 3 after a dot.
    private mutating func number() -> StructuredDictionary.Value? {
        let isNegative = take(UInt8(ascii: "-"))
        let digits = take(while: \.isDigit)
        guard (1...15).contains(digits.utf8.count), let value = Int(digits) else { return nil }
        guard take(UInt8(ascii: ".")) else { return .integer(isNegative ? -value : value) }
        let fraction = take(while: \.isDigit)
        return digits.utf8.count <= 12 && (1...3).contains(fraction.utf8.count) ? .other : nil
    }

    private mutating func boolean() -> StructuredDictionary.Value? {
        _ = take(UInt8(ascii: "?"))
        if take(UInt8(ascii: "1")) { return .boolean(true) }
        return take(UInt8(ascii: "0")) ? .boolean(false) : nil
    }

    private mutating func byteSequence() -> Bool {
        _ = take(UInt8(ascii: ":"))
        _ = take { $0.isDigit || $0.isLetter || "+/=".utf8.contains($0) }
        return take(UInt8(ascii: ":"))
    }

    /// Only printable ASCII, and no escapes but those of quote and backslash.
    private mutating func structuredString() -> Bool {
        guard take(.quote) else { return false }
        while let byte = next, (0x20...0x7E).contains(byte) {
            _ = take(byte)
            if byte == .quote { return true }
            if byte == .backslash, !take(.quote), !take(.backslash) { return false }
        }
        return false
    }
}

import Foundation

extension String {
    /// The text with the secrets of its URLs replaced by `***`: user and password, and the values
    /// of query items, fragments and path parameters with secret names (`token`, `X-Amz-Signature`,
    /// `api_key` and so on).
    ///
    /// For everything that is stored or shown: rows of the index, messages, lists. The rest of the
    /// text is unchanged, so that the URL stays recognizable; a text without secrets is returned as
    /// it is.
    package var maskingSecrets: String {
        SecretMask.masked(self)
    }
}

/// Finds secrets in URLs without parsing them: the text may not be a valid URL at all.
private enum SecretMask {
    private static let replacement = Array("***".utf8)

    static func masked(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard mayHoldSecrets(bytes) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if starts(bytes, at: index, with: schemeEnd) {
                result += schemeEnd
                index += schemeEnd.count
                let end = endOfAuthority(bytes, from: index)
                if let at = bytes[index..<end].lastIndex(of: UInt8(ascii: "@")),
                    !starts(bytes, at: at + 1, with: processorPrefix)
                {
                    result += replacement
                    index = at
                }
                continue
            }
            let byte = bytes[index]
            result.append(byte)
            index += 1
            guard itemStarts.contains(byte) else { continue }
            let value = startOfValue(bytes, from: index)
            guard let value, isSecret(bytes[index..<(value - 1)]) else { continue }
            let end = endOfValue(bytes, from: value)
            result += bytes[index..<value]
            if end > value { result += replacement }
            index = end
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Most keys and messages have neither a query nor a user.
    private static func mayHoldSecrets(_ bytes: [UInt8]) -> Bool {
        bytes.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }
    }

    private static let schemeEnd = Array("://".utf8)
    /// The text after the URL in the key of a processed image.
    private static let processorPrefix = Array("com.onevcat.Kingfisher.".utf8)
    private static let itemStarts = Array("?&;#".utf8)
    private static let textEnds = Array(" \t\r\n\"'<>`".utf8)
    private static let apostrophe = UInt8(ascii: "'")

    private static func starts(_ bytes: [UInt8], at index: Int, with prefix: [UInt8]) -> Bool {
        bytes.count - index >= prefix.count
            && bytes[index..<(index + prefix.count)].elementsEqual(prefix)
    }

    private static func endOfAuthority(_ bytes: [UInt8], from start: Int) -> Int {
        bytes[start...].firstIndex {
            // A user's name may have an apostrophe.
            "/?#\\".utf8.contains($0) || textEnds.contains($0) && $0 != apostrophe
        } ?? bytes.count
    }

    /// Whether a URL ends at `index`: an apostrophe may be part of it as well as a mark behind it.
    private static func endsText(_ bytes: [UInt8], at index: Int) -> Bool {
        guard bytes[index] == apostrophe else { return textEnds.contains(bytes[index]) }
        guard let next = bytes[index...].first(where: { $0 != apostrophe }) else { return true }
        return textEnds.contains(next) || ",.;:!?)".utf8.contains(next)
    }

    /// The start of the value of the item at `start`; `nil` when it has none.
    private static func startOfValue(_ bytes: [UInt8], from start: Int) -> Int? {
        for index in start..<bytes.count {
            if bytes[index] == UInt8(ascii: "=") { return index + 1 }
            if "?&;#/".utf8.contains(bytes[index]) || textEnds.contains(bytes[index]) {
                return nil
            }
        }
        return nil
    }

    private static func endOfValue(_ bytes: [UInt8], from start: Int) -> Int {
        for index in start..<bytes.count {
            if "&;#".utf8.contains(bytes[index]) || endsText(bytes, at: index)
                || bytes[index] == UInt8(ascii: "@")
                    && starts(bytes, at: index + 1, with: processorPrefix)
            {
                return index
            }
        }
        // The full stop of a sentence that ends with a URL.
        let endsSentence = bytes.last == UInt8(ascii: ".") && bytes.count > start
        return endsSentence ? bytes.count - 1 : bytes.count
    }

    /// Whether the values of items of this name are secrets. Ignores case, signs between words and
    /// percent-encoding.
    private static func isSecret(_ name: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: name, as: UTF8.self)
        let letters = (text.removingPercentEncoding ?? text).lowercased()
            .filter { $0.isLetter || $0.isNumber }
        return names.contains(letters) || endings.contains { letters.hasSuffix($0) }
    }

    private static let names: Set<String> = [
        "sig", "sign", "key", "auth", "authorization", "pass", "pwd", "jwt", "sid", "hmac",
        "session",
        "sessionid", "policy", "keypairid", "googleaccessid", "hdnts", "hdnea", "bearer", "code",
    ]

    private static let endings = [
        "token", "signature", "secret", "password", "passwd", "apikey", "accesskey", "accesskeyid",
        "secretkey", "privatekey", "credential", "credentials",
    ]
}

package import Foundation

/// A `data:` URI (RFC 2397), decoded, without its fragment. A `%` without two hexadecimal digits stands for itself
/// (URL Standard, "percent-decode").
package struct DataURI: Equatable, Sendable {
    package enum ParsingError: Error, Equatable, CustomStringConvertible {
        case noComma
        case badBase64

        package var description: String {
            switch self {
            case .noComma: "The data URI has no comma before its data."
            case .badBase64: "The data URI's data is not Base64."
            }
        }
    }

    package enum Reading: Sendable {
        case strict
        /// As in browsers: white space and characters that are not Base64 digits are skipped.
        case lenient
    }

    /// The text between `data:` and the comma, without `;base64`; empty when left out.
    package let mediaType: String
    package let data: Data

    /// The media type without parameters, in lower case.
    package var kind: String {
        mediaType.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
    }

    package static func isScheme(of text: String) -> Bool {
        isScheme(of: text.utf8, .strict)
    }

    package static func isScheme(of text: some Collection<UInt8>, _ reading: Reading) -> Bool {
        let start = reading == .strict ? Array(text.prefix(5)) : Array(trimmed(text).prefix(5))
        return String(decoding: start, as: UTF8.self).lowercased() == "data:"
    }

    package init(_ text: String, _ reading: Reading = .strict) throws(ParsingError) {
        let whole = reading == .strict ? Array(text.utf8) : Array(Self.trimmed(text.utf8))
        let bytes = whole.prefix { $0 != UInt8(ascii: "#") }
        guard Self.isScheme(of: bytes, .strict), let comma = bytes.firstIndex(of: UInt8(ascii: ","))
        else { throw .noComma }
        var words = String(decoding: bytes[..<comma].dropFirst(5), as: UTF8.self)
            .split(separator: ";", omittingEmptySubsequences: false)
        let decoded = PercentEncoding.lenientBytes(bytes[(comma + 1)...])
        if words.count > 1, let last = words.last,
            last.trimmingCharacters(in: .whitespaces).lowercased() == "base64"
        {
            words.removeLast()
            guard let bytes = Self.fromBase64(decoded, reading) else { throw .badBase64 }
            data = bytes
        } else {
            data = Data(decoded)
        }
        mediaType = words.joined(separator: ";")
    }

    /// The text of a link's address without tabs and line ends, and without leading space.
    private static func trimmed(
        _ text: some Collection<UInt8>
    ) -> some Sequence<UInt8> {
        text.lazy.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }.drop { $0 <= 0x20 }
    }

    /// Base64 in either alphabet, with or without padding and white space.
    private static func fromBase64(_ text: [UInt8], _ reading: Reading) -> Data? {
        var digits = Data(capacity: text.count + 3)
        for byte in text {
            switch byte {
            case _ where byte.isDigit || byte.isLetter, UInt8(ascii: "+"), UInt8(ascii: "/"):
                digits.append(byte)
            case UInt8(ascii: "-"): digits.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): digits.append(UInt8(ascii: "/"))
            case UInt8(ascii: " "), 0x09, 0x0A, 0x0D, UInt8(ascii: "="): continue
            default: if reading == .strict { return nil }
            }
        }
        // The end may be missing.
        if reading == .lenient, digits.count % 4 == 1 { digits.removeLast() }
        while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: digits)
    }
}

import Foundation

/// A `data:` URI (RFC 2397), decoded.
struct DataURI: Equatable {
    /// Why a text is not a `data:` URI.
    enum ParsingError: Error, Equatable, CustomStringConvertible {
        case noComma
        case badBase64
        case badPercentEncoding

        var description: String {
            switch self {
            case .noComma: "The data URI has no comma before its data."
            case .badBase64: "The data URI's data is not Base64."
            case .badPercentEncoding: "The data URI's percent-encoding is malformed."
            }
        }
    }

    /// What is between `data:` and the comma, without `;base64`; empty when left out.
    let mediaType: String
    let data: Data

    /// Whether `text` claims to be a `data:` URI.
    static func isScheme(of text: String) -> Bool {
        text.prefix(5).lowercased() == "data:"
    }

    init(_ text: String) throws(ParsingError) {
        guard Self.isScheme(of: text), let comma = text.firstIndex(of: ",") else {
            throw .noComma
        }
        var header = String(text[..<comma].dropFirst(5))
        let content = text[text.index(after: comma)...]
        guard let bytes = Self.percentDecoded(content) else { throw .badPercentEncoding }
        if header.lowercased().hasSuffix(";base64") {
            header.removeLast(7)
            guard let decoded = Self.base64Decoded(bytes) else { throw .badBase64 }
            data = decoded
        } else {
            data = bytes
        }
        mediaType = header
    }

    /// The bytes of percent-encoded text; other characters stand for their UTF-8 bytes.
    private static func percentDecoded(_ text: Substring) -> Data? {
        var result = Data(capacity: text.utf8.count)
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = bytes.next().flatMap(hexValue),
                let low = bytes.next().flatMap(hexValue)
            else { return nil }
            result.append(high << 4 | low)
        }
        return result
    }

    /// Base64 in either alphabet, with or without padding and white space.
    private static func base64Decoded(_ text: Data) -> Data? {
        var standard = Data(capacity: text.count + 3)
        for byte in text {
            switch byte {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                continue
            case UInt8(ascii: "="): continue
            default: standard.append(byte)
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        return Data(base64Encoded: standard)
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

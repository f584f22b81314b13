package enum XMLEscaping {
    /// `text` for the content of an element of XML or HTML, or for an attribute in quotes.
    ///
    /// By bytes: a quote with an accent on it is another character, but ends an attribute.
    ///
    /// - Parameters:
    ///   - apostrophe: What replaces `'`, which ends an attribute in apostrophes.
    ///   - carriageReturn: What replaces a carriage return, which parsers take for a part of a line end.
    package static func escape(
        _ text: String, apostrophe: String = "'", carriageReturn: String = "\r"
    ) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += apostrophe.utf8
            case UInt8(ascii: "\r"): bytes += carriageReturn.utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

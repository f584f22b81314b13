import HalcyonWork

/// Under which name a picture is saved, and whether it is shown or saved (RFC 6266).
package struct ContentDisposition: Sendable, Hashable {
    /// The value of the header field, at most 150 bytes.
    package let field: String

    /// - Parameters:
    ///   - plan: Its file name, or the last part of its source.
    ///   - format: The one that is written; `nil`: the name has no extension.
    package init(plan: ImagePlan, format: OutputFormat?) {
        let name = plan.options.filename ?? Self.name(ofSource: plan.source)
        self.init(name: name, format: format, isAttachment: plan.options.asAttachment)
    }

    /// - Parameter name: Without extension; an empty one is `image`.
    package init(name: String, format: OutputFormat?, isAttachment: Bool) {
        let end = format.map { "." + $0.fileExtension } ?? ""
        let start = (isAttachment ? "attachment" : "inline") + "; filename=\""
        // Nearly all names are like this, and each answer has one.
        let plain = start + name + end + "\""
        if !name.isEmpty, plain.utf8.count <= 150, (name + end).utf8.allSatisfy(Self.isPlain) {
            field = plain
            return
        }
        // A control character in a header would begin another one, also when it is encoded.
        var scalars = name.unicodeScalars.prefix(150).map {
            $0.properties.generalCategory == .control ? "_" : $0
        }
        if scalars.isEmpty { scalars = Array("image".unicodeScalars) }
        var field = Self.field(start, scalars, end)
        while field.utf8.count > 150, scalars.count > 1 {
            scalars.removeLast()
            field = Self.field(start, scalars, end)
        }
        self.field = field
    }

    private static func field(_ start: String, _ name: [Unicode.Scalar], _ end: String) -> String {
        let whole = String(String.UnicodeScalarView(name)) + end
        let ascii = String(
            decoding: whole.unicodeScalars.map { scalar in
                UInt8(exactly: scalar.value).flatMap { isPlain($0) ? $0 : nil } ?? UInt8(ascii: "_")
            }, as: UTF8.self)
        let plain = start + ascii + "\""
        if ascii == whole { return plain }
        return plain + "; filename*=UTF-8''" + PercentEncoding.encode(whole)
    }

    /// Whether a byte stands for itself between quotes.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// The last part of the path, without extension and query; empty when there is none.
    private static func name(ofSource source: String) -> String {
        // Bytes that are not UTF-8 have no character.
        let source = String(decoding: source.unescapedBytes, as: UTF8.self)
        let path = source.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        // Behind `scheme://` stands the host, which is no name.
        let scheme = segments.indices.dropLast().first {
            segments[$0].last == UInt8(ascii: ":") && segments[$0 + 1].isEmpty
        }
        if let scheme, segments.count <= scheme + 3 { return "" }
        let segment = Substring(segments.last ?? source.utf8.prefix(0))
        let name = PercentEncoding.decode(segment) ?? String(segment)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}

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

    private static func field(
        _ start: String, _ name: [Unicode.Scalar], _ end: String
    ) -> String {
        let whole = String(String.UnicodeScalarView(name)) + end
        let ascii = String(
            decoding: whole.unicodeScalars.map { scalar in
                let isPlain =
                    (0x20..<0x7F).contains(scalar.value) && scalar != "\"" && scalar != "\\"
                return isPlain ? UInt8(scalar.value) : UInt8(ascii: "_")
            }, as: UTF8.self)
        let plain = start + ascii + "\""
        if ascii == whole { return plain }
        return plain + "; filename*=UTF-8''" + PercentEncoding.encode(whole)
    }

    /// The last part of the path, without extension and query; empty when there is none.
    private static func name(ofSource source: String) -> String {
        var path = source.prefix { $0 != "?" && $0 != "#" }
        if let scheme = path.firstRange(of: "://") {
            let rest = path[scheme.upperBound...]
            guard let slash = rest.firstIndex(of: "/") else { return "" }
            path = rest[slash...]
        }
        let segment = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
        let name = PercentEncoding.decode(segment) ?? String(segment)
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }
}

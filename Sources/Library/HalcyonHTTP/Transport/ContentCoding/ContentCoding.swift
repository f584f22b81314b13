/// A way in which a body may be packed (RFC 9110, section 8.4.1).
package enum ContentCoding: String, CaseIterable, Sendable {
    case gzip, deflate
    case brotli = "br"
    case zstandard = "zstd"

    /// The value of `Accept-Encoding`, in the order of preference.
    static let offered = allCases.map(\.rawValue).joined(separator: ", ")

    /// `nil` for a name that is none of these; `name` is in lower case.
    init?(name: String) {
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }
}

/// The content codings that a header names.
package struct ContentCodings: Hashable, Sendable {
    /// Codings to be undone, in the order in which they were applied.
    package private(set) var known: [ContentCoding] = []
    /// Other names, in lower case. Servers write all kinds of things there, such as `utf-8`, `binary` or
    /// `aws-chunked`, and send the bytes as they are; so browsers and `URLSession` pass them over, too.
    package private(set) var unknown: [String] = []

    /// Without any.
    package init() {}

    /// Reads a `Content-Encoding`, whose lines are joined with commas.
    package init(_ field: String) {
        for member in field.utf8.split(separator: .comma) {
            let name = String(decoding: member, as: UTF8.self).trimmingFieldSpaces.lowercasedASCII
            if let coding = ContentCoding(name: name) {
                known.append(coding)
            } else if !name.isEmpty, name != "identity", name != "none" {
                unknown.append(name)
            }
        }
    }

    package var isEmpty: Bool { known.isEmpty && unknown.isEmpty }
}

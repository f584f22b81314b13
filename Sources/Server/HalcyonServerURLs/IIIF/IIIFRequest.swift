import HalcyonWork

/// A request by the IIIF Image API 3.0: the path after the prefix of its routes.
package enum IIIFRequest: Sendable, Hashable {
    /// Only the identifier: answered by a redirect to `info.json`.
    case base(IIIFIdentifier)
    case info(IIIFIdentifier)
    case image(IIIFIdentifier, IIIFParameters)

    /// - Parameter path: The path as sent, without query: `IDENTIFIER`, `IDENTIFIER/info.json` or
    ///   `IDENTIFIER/REGION/SIZE/ROTATION/QUALITY.FORMAT`.
    /// - Throws: `not_found` for other forms, one of the codes with `iiif_` for wrong parameters.
    package init(path: some StringProtocol) throws(PlanError) {
        var segments = path.parts(at: "/")
        if segments.count > 1, segments[0].isEmpty { segments.removeFirst() }
        switch segments.count {
        case 1: self = .base(try IIIFIdentifier(encoded: segments[0]))
        case 2 where segments[1].isEmpty: self = .base(try IIIFIdentifier(encoded: segments[0]))
        case 2 where segments[1] == "info.json":
            self = .info(try IIIFIdentifier(encoded: segments[0]))
        case 5:
            let identifier = try IIIFIdentifier(encoded: segments[0])
            self = .image(
                identifier,
                try IIIFParameters(
                    region: segments[1], size: segments[2], rotation: segments[3],
                    qualityAndFormat: segments[4]))
        default: throw PlanError(.notFound, "This is no request of the IIIF Image API.")
        }
    }
}

package struct IIIFIdentifier: Sendable, Hashable {
    /// The decoded text, at most 1024 bytes; two spellings of one identifier are equal. Bytes that are
    /// not UTF-8 are as `String.init(escaping:)` has them.
    package let text: String

    /// - Parameter encoded: One segment of a path.
    /// - Throws: `not_found`.
    package init(encoded: String) throws(PlanError) {
        // The characters of a segment (RFC 3986, section 3.3).
        let isSegment = encoded.utf8.allSatisfy {
            $0.isUnreserved || "%!$&'()*+,;=:@".utf8.contains($0)
        }
        let bytes = isSegment ? PercentEncoding.bytes(Substring(encoded).utf8) : nil
        let text = bytes.map(String.init(escaping:)) ?? ""
        guard !text.isEmpty, text.utf8.count <= 1024, text != ".", text != "..",
            !text.hasControlCharacters
        else { throw PlanError(.notFound, "There is no picture with this identifier.") }
        self.text = text
    }

    /// The canonical spelling in documents.
    package var encoded: String {
        PercentEncoding.encode(text.unescapedBytes, keeping: "!$&'()*+,;=:@")
    }
}

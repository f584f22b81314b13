import Foundation
internal import HalcyonWork

/// The entity tag of a result, known before any pixel is.
package struct ResultTag: Sendable, Hashable {
    /// For the header field `ETag`: weak, with its quotes.
    package let text: String

    /// - Parameters:
    ///   - source: What tells versions of the source apart: the origin's entity tag, or its date and
    ///     length, or a digest of the bytes.
    ///   - plan: Its canonical text, with what belongs to the result without being in the URL: digests
    ///     of the watermark and of the fallback where they are used.
    ///   - variant: The format that was chosen, its quality, and rounded hints.
    ///   - epoch: Another one whenever the same plan may give other bytes.
    package init(source: String, plan: String, variant: String, epoch: String) {
        let named = Array([source, plan, variant, epoch].joined(separator: "\0").utf8)
        text = "W/\"\(Base64URL.encode(Digest.sha256.bytes(named)).prefix(22))\""
    }
}

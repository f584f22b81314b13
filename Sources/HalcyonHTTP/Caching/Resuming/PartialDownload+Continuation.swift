/// What a `206` turns out to be.
package enum Continuation: Sendable, Hashable {
    /// It goes on where the partial ends: so many bytes come, of a whole of this length.
    case accepted(count: Int64, total: Int64)
    /// It cannot be trusted to. The partial is given up, and the same request is sent without it.
    case refused(ContinuationMismatch)
}

/// The check that a `206` failed.
package enum ContinuationMismatch: Sendable, Hashable {
    /// No `Content-Range`, several, or one that is no range of bytes.
    case range
    /// It begins elsewhere.
    case start
    /// The whole has another length, or its length is unknown.
    case total
    /// `Content-Length` and `Content-Range` disagree.
    case length
    case validator
    case contentCoding
    case mediaType
}

extension PartialDownload {
    /// Checks the answer to the request for the rest (RFC 9110, sections 14.4 and 15.3.7). A range
    /// that begins earlier is refused too: to ask anew is always right.
    package func continuation(by fields: HTTPFields) -> Continuation {
        guard let range = ContentRange(of: fields) else { return .refused(.range) }
        if range.first != length { return .refused(.start) }
        guard let total = total ?? range.total, range.last < total,
            range.total == nil || range.total == total
        else { return .refused(.total) }
        let lengths = fields.values("Content-Length")
        if !lengths.allSatisfy({ $0.trimmingFieldSpaces == String(range.count) }) {
            return .refused(.length)
        }
        if !validator.isConfirmed(by: fields) { return .refused(.validator) }
        if fields.hasContentCoding { return .refused(.contentCoding) }
        if let type = fields.first("Content-Type").map(Self.mediaType),
            type != self.fields.first("Content-Type").map(Self.mediaType)
        {
            return .refused(.mediaType)
        }
        return .accepted(count: range.count, total: total)
    }

    /// `image/PNG; q=1` as `image/png`.
    private static func mediaType(_ value: String) -> String {
        String(decoding: value.utf8.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            .trimmingFieldSpaces.lowercasedASCII
    }
}

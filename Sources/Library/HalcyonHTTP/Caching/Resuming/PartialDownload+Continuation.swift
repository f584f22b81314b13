/// What the answer to a request for the rest means for the partial.
package enum ResumedAnswer: Sendable, Hashable {
    /// So many bytes follow the partial, of a whole of this length. When they end before it,
    /// the next range is asked for.
    case append(count: Int64, total: Int64)
    /// The content is the whole, as it is now. The partial is removed.
    case whole
    /// The partial is removed, and the same request is sent once without it.
    case startOver(because: ContinuationMismatch?)
    /// There is nothing to go on with. The partial is removed; the answer is an error.
    case gone
    /// It says nothing about the partial, which stays: a redirect, or an error.
    case unrelated
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
    /// An answer to the request for the rest, by its status and, for a `206`, its fields.
    package func answer(status: Int, fields: HTTPFields) -> ResumedAnswer {
        switch status {
        case 206: continuation(by: fields)
        case 200, 203: .whole
        // A 304 has not been asked for.
        case 304, 416: .startOver(because: nil)
        case 404, 410: .gone
        default: .unrelated
        }
    }

    /// Checks the answer to the request for the rest (RFC 9110, sections 14.4 and 15.3.7). A range
    /// that begins earlier is refused too: to ask anew is always right.
    private func continuation(by fields: HTTPFields) -> ResumedAnswer {
        guard let range = ContentRange(of: fields) else { return .startOver(because: .range) }
        if range.first != length { return .startOver(because: .start) }
        guard let total = total ?? range.total, range.last < total,
            range.total == nil || range.total == total
        else { return .startOver(because: .total) }
        let lengths = fields.values("Content-Length")
        if !lengths.allSatisfy({ $0.trimmingFieldSpaces == String(range.count) }) {
            return .startOver(because: .length)
        }
        if !validator.isConfirmed(by: fields) { return .startOver(because: .validator) }
        if fields.hasContentCoding { return .startOver(because: .contentCoding) }
        if let type = fields.first("Content-Type").map(Self.mediaType),
            type != self.fields.first("Content-Type").map(Self.mediaType)
        {
            return .startOver(because: .mediaType)
        }
        return .append(count: range.count, total: total)
    }

    /// `image/PNG; q=1` as `image/png`.
    private static func mediaType(_ value: String) -> String {
        String(decoding: value.utf8.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
            .trimmingFieldSpaces.lowercasedASCII
    }
}

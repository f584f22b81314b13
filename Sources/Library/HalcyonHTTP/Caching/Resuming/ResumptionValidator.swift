package import Foundation

/// What shows that two answers carry the same bytes, so that the parts of a download may be put
/// together (RFC 9110, section 13.1.5).
package enum ResumptionValidator: Sendable, Hashable {
    case entityTag(EntityTag)
    /// The text of a `Last-Modified` that is strong by its age.
    case lastModified(String)

    /// The strong validator of an answer, `nil` when there is none.
    ///
    /// A weak or malformed `ETag` is the server's word that bytes may differ; no date helps then.
    /// A `Last-Modified` is strong when it lies at least 60 s before the `Date` of its answer: two
    /// changes in the same second would otherwise look alike (RFC 9110, section 8.8.2.2).
    package init?(of fields: HTTPFields, received: Date) {
        if let tag = EntityTag(of: fields) {
            guard tag.isStrong, fields.values("ETag").count == 1 else { return nil }
            self = .entityTag(tag)
            return
        }
        guard let modified = fields.lastModified(receivedAt: received),
            let date = fields.first("Date").flatMap({ HTTPDateParser.date($0, now: received) }),
            date.timeIntervalSince(modified) >= 60,
            let text = fields.first("Last-Modified")
        else { return nil }
        self = .lastModified(text)
    }

    /// The value of `If-Range`.
    package var text: String {
        switch self {
        case .entityTag(let tag): tag.text
        case .lastModified(let text): text
        }
    }

    /// Whether another answer, by the validators that it has, carries the same bytes.
    func isConfirmed(by fields: HTTPFields) -> Bool {
        switch self {
        case .entityTag(let tag):
            return EntityTag(of: fields).map(tag.stronglyEquals) ?? true
        case .lastModified(let text):
            // A tag that was not there before belongs to a later state of the server.
            if fields.contains("ETag") { return false }
            return fields.first("Last-Modified").map { $0.utf8.elementsEqual(text.utf8) } ?? true
        }
    }
}

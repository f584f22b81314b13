import Foundation

/// The validator of a response and the conditions of a request (RFC 9110, section 13).
struct Validators {
    private var entityTag: String?

    init(_ behaviours: [OriginBehaviour]) {
        for case .entityTag(let tag) in behaviours { entityTag = tag }
    }

    func addFields(to headers: inout HeaderFields) {
        if let entityTag { headers["ETag"] = entityTag }
    }

    /// Whether the client has the current version already.
    func match(_ request: RecordedRequest) -> Bool {
        let tags = request.headers.values("If-None-Match")
        guard let entityTag else { return false }
        return tags.flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .contains { $0 == "*" || Self.opaque($0) == Self.opaque(entityTag) }
    }

    /// Whether a range may be sent: a strong match, or no condition.
    func allowRange(ifRange: String?) -> Bool {
        ifRange.map { $0.hasPrefix("\"") && $0 == entityTag } ?? true
    }

    /// The tag without the mark of weakness, which `If-None-Match` does not mind.
    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}

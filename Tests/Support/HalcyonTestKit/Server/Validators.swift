import Foundation
import HalcyonHTTP

/// The validators of a response and the conditions of a request (RFC 9110, section 13).
struct Validators {
    var entityTag: String?
    var lastModified: Date?

    init(_ behaviours: [OriginBehaviour]) {
        for behaviour in behaviours {
            switch behaviour {
            case .entityTag(let tag): entityTag = tag
            case .lastModified(let date): lastModified = date
            default: break
            }
        }
    }

    func addFields(to headers: inout HeaderFields) {
        if let entityTag { headers["ETag"] = entityTag }
        if let lastModified { headers["Last-Modified"] = HTTPDate.text(lastModified) }
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
        guard let ifRange else { return true }
        if ifRange.hasPrefix("\"") { return ifRange == entityTag }
        return lastModified.map { HTTPDate.text($0) == ifRange } ?? false
    }

    /// The tag without the mark of weakness, which `If-None-Match` does not mind.
    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
    }
}

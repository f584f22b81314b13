package import Foundation

/// The conditions of a client's request for a changed picture (RFC 9110, section 13.1).
package struct ConditionalRequest: Sendable, Hashable {
    package var ifNoneMatch: [String]
    /// The date of `If-Modified-Since`; `nil` when missing, repeated or unreadable.
    package var ifModifiedSince: Date?

    package init(ifNoneMatch: [String] = [], ifModifiedSince: Date? = nil) {
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
    }

    package var isConditional: Bool { !ifNoneMatch.isEmpty || ifModifiedSince != nil }

    /// Whether a GET or HEAD is answered by 304, without a picture.
    ///
    /// Tags are compared weakly. If the client sends tags, dates are ignored.
    /// - Parameter lastModified: Of the source; `nil` if unknown.
    package func isMet(tag: String, lastModified: Date?) -> Bool {
        if !ifNoneMatch.isEmpty {
            // Most clients send the only tag that they have.
            if !tag.isEmpty, ifNoneMatch == [tag] { return true }
            return FieldMembers.members(of: ifNoneMatch)
                .contains { $0 == "*" || Self.opaque($0) == Self.opaque(tag) }
        }
        guard let ifModifiedSince, let lastModified else { return false }
        // The header has whole seconds.
        return lastModified.timeIntervalSince1970.rounded(.down)
            <= ifModifiedSince.timeIntervalSince1970
    }

    /// A tag without its weakness mark.
    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : Substring(tag)
    }
}

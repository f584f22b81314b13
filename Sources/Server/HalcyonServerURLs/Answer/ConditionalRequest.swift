package import Foundation

/// What a client has already, by the conditions of its request (RFC 9110, section 13.1).
package struct ConditionalRequest: Sendable, Hashable {
    /// The values of `If-None-Match`.
    package var ifNoneMatch: [String]
    /// `nil` when there is no such date, or more than one, or one that cannot be read.
    package var ifModifiedSince: Date?

    package init(ifNoneMatch: [String] = [], ifModifiedSince: Date? = nil) {
        self.ifNoneMatch = ifNoneMatch
        self.ifModifiedSince = ifModifiedSince
    }

    package var isConditional: Bool { !ifNoneMatch.isEmpty || ifModifiedSince != nil }

    /// Whether a GET or HEAD is answered by 304, without a picture.
    ///
    /// Tags are compared weakly. Where the client names tags, dates do not count.
    /// - Parameter lastModified: Of the source; `nil` when nobody knows.
    package func isMet(tag: String, lastModified: Date?) -> Bool {
        if !ifNoneMatch.isEmpty {
            let members = ifNoneMatch.flatMap { FieldMembers.members(of: $0) }
            return members.contains { $0 == "*" || Self.opaque($0) == Self.opaque(tag) }
        }
        guard let ifModifiedSince, let lastModified else { return false }
        // The header has whole seconds.
        return lastModified.timeIntervalSince1970.rounded(.down)
            <= ifModifiedSince.timeIntervalSince1970
    }

    /// A tag without the mark of weak ones.
    private static func opaque(_ tag: String) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : Substring(tag)
    }
}

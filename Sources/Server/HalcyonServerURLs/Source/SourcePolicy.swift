/// Where sources may come from.
///
/// This is about URLs only. Which addresses may be connected to is decided when that is known, and for
/// each connection.
public struct SourcePolicy: Sendable {
    /// Empty: nothing over HTTP.
    public var patterns: [SourcePattern]
    public var ports: Set<Int>
    public var allowsHTTP: Bool
    /// Whether there are local files.
    public var allowsLocal: Bool
    /// Schemes of sources that the program has added.
    public var otherSchemes: Set<String>

    public init(
        patterns: [SourcePattern] = [], ports: Set<Int> = [80, 443], allowsHTTP: Bool = true,
        allowsLocal: Bool = false, otherSchemes: Set<String> = []
    ) {
        self.patterns = patterns
        self.ports = ports
        self.allowsHTTP = allowsHTTP
        self.allowsLocal = allowsLocal
        self.otherSchemes = otherSchemes
    }

    /// The source that `text` names.
    /// - Throws: `source_not_allowed`, `unknown_scheme`, or `source_not_found` for paths of files
    ///   that cannot be.
    package func reference(_ text: String) throws(PlanError) -> SourceReference {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        switch scheme {
        case "http", "https": return .http(try url(text))
        case "local" where allowsLocal:
            return .local(try LocalPath(text))
        case _ where otherSchemes.contains(scheme) && scheme.utf8.count < text.utf8.count:
            return .other(scheme: scheme, text: text)
        case "s3", "gs", "abs", "swift":
            throw PlanError(
                .unknownScheme, "There is no source with the scheme \(scheme).", .scheme)
        default:
            throw PlanError(
                .sourceNotAllowed, "The source has no scheme that is allowed.", .scheme)
        }
    }

    /// The URL to request, of a plan or of a redirect.
    /// - Throws: `source_not_allowed`.
    package func url(_ text: String) throws(PlanError) -> SourceURL {
        let url = try SourceURL(text)
        guard allowsHTTP else {
            throw PlanError(.sourceNotAllowed, "No sources over HTTP are allowed.", .scheme)
        }
        guard ports.contains(url.port) else {
            throw PlanError(
                .sourceNotAllowed, "The port \(url.port) is not allowed for sources.", .port)
        }
        guard patterns.contains(where: { $0.matches(url) }) else {
            throw PlanError(
                .sourceNotAllowed, "The source is not on the list of allowed sources.", .allowList)
        }
        return url
    }
}

/// A source that a server may look for.
package enum SourceReference: Sendable, Hashable {
    case http(SourceURL)
    case local(LocalPath)
    /// Of a scheme that the program has added.
    case other(scheme: String, text: String)
}

/// A file below the folder for local files.
package struct LocalPath: Sendable, Hashable {
    /// At least one; none of them is empty, hidden, or leads upwards.
    package let segments: [String]
    /// The path up to a question mark, where there is one: what follows is a query unless there is a file of the
    /// whole name.
    let withoutQuery: [String]?

    /// The paths of the files that may be meant, the first of them that is there.
    package var candidates: [[String]] { [segments] + (withoutQuery.map { [$0] } ?? []) }

    /// - Parameter text: `local:///path` or `local:/path`, decoded.
    /// - Throws: `source_not_found`.
    package init(_ text: String) throws(PlanError) {
        let path = text.dropFirst("local:".count)
        let name = path.prefix { $0 != "?" }
        // What cannot be the name of a file is a name and its query.
        if name.endIndex != path.endIndex, let whole = try? Self.segments(ofRooted: path) {
            segments = whole
            // Before the question mark there may be no name.
            withoutQuery = try? Self.segments(ofRooted: name)
        } else {
            segments = try Self.segments(ofRooted: name)
            withoutQuery = nil
        }
    }

    private static func segments(ofRooted path: Substring) throws(PlanError) -> [String] {
        if path.hasPrefix("///") { return try segments(path.dropFirst(3)) }
        if path.hasPrefix("/"), !path.hasPrefix("//") { return try segments(path.dropFirst()) }
        throw PlanError(.sourceNotFound, "Local sources are written as local:///PATH.")
    }

    /// - Parameter path: Relative, with slashes between its segments.
    package init(segments path: some StringProtocol) throws(PlanError) {
        segments = try Self.segments(path)
        withoutQuery = nil
    }

    private static func segments(_ path: some StringProtocol) throws(PlanError) -> [String] {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let areNames = parts.allSatisfy { name in
            !name.isEmpty && name.utf8.first != UInt8(ascii: ".")
                && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "\\") }
        }
        guard areNames, !parts.isEmpty else {
            throw PlanError(.sourceNotFound, "The local source path is not valid.")
        }
        return parts
    }
}

/// The allowed sources, by URL.
///
/// Addresses are checked separately, for each connection, once they are known.
public struct SourcePolicy: Sendable {
    /// The allowed URLs; empty: nothing over HTTP.
    public var patterns: [SourcePattern]
    public var ports: Set<Int>
    public var allowsHTTP: Bool
    /// Whether local files are allowed.
    public var allowsLocal: Bool
    /// The schemes added by the program.
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

    /// The source of a URL.
    /// - Throws: `source_not_allowed`, `unknown_scheme`, or `source_not_found` for invalid file paths.
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
            throw PlanError(.sourceNotAllowed, "The source has no scheme that is allowed.", .scheme)
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

package enum SourceReference: Sendable, Hashable {
    case http(SourceURL)
    case local(LocalPath)
    /// A source of a scheme that the program has added.
    case other(scheme: String, text: String)
}

/// A file below the folder for local files.
package struct LocalPath: Sendable, Hashable {
    /// At least one segment; none is empty, hidden, or leads upwards. Bytes that are not UTF-8 are as
    /// `String.init(escaping:)` has them.
    package let segments: [String]
    /// The path up to a question mark, if any: the rest is a query unless a file has the whole name.
    let withoutQuery: [String]?

    /// The candidate paths of the file; the first existing one counts.
    package var candidates: [[String]] { [segments] + (withoutQuery.map { [$0] } ?? []) }

    /// - Parameter text: `local:///path` or `local:/path`, decoded.
    /// - Throws: `source_not_found`.
    package init(_ text: String) throws(PlanError) {
        let path = text.dropFirst("local:".count)
        let name = path.prefix { $0 != "?" }
        // A path that is not a valid file name is a name with a query.
        if name.endIndex != path.endIndex, let whole = try? Self.segments(ofRooted: path) {
            segments = whole
            // The part before the question mark may be empty.
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
        let parts = path.parts(at: "/")
        let areNames = parts.allSatisfy { name in
            !name.isEmpty && name.utf8.first != UInt8(ascii: ".")
                && !name.utf8.contains(0)
        }
        guard areNames, !parts.isEmpty else {
            throw PlanError(.sourceNotFound, "The local source path is not valid.")
        }
        return parts
    }
}

import HalcyonWork

/// An entry of the list of sources that are allowed: `scheme://host[:port][/path]`, parsed and not
/// compared as text.
///
/// - `https://img.example.com/2024`: that host, at the usual port, below that path.
/// - `*.example.com`: hosts with one label or more before it, with any of both schemes.
/// - `example.com:*`: any of the allowed ports.
/// - `https://example.com/*/thumbs`: `*` stands for any text within a segment.
/// - `*`: everything.
public struct SourcePattern: Sendable, Hashable {
    private enum Host: Hashable {
        case any
        case exactly(String)
        /// With the dot before it, which no host begins with.
        case below(String)
    }

    private enum Port: Hashable {
        case usual
        case any
        case exactly(Int)
    }

    private let scheme: SourceURL.Scheme?
    private let host: Host
    private let port: Port
    private let segments: [String]

    /// - Throws: `invalid_option` when there is no host, user information, or another scheme.
    public init(_ text: String) throws(PlanError) {
        func wrong(_ reason: String) -> PlanError {
            PlanError(.invalidOption, "Allowed source “\(text)” \(reason).")
        }
        var rest = Substring(text)
        if rest == "*" {
            (scheme, host, port, segments) = (nil, .any, .any, [])
            return
        }
        if let mark = rest.firstRange(of: "://") {
            guard let named = SourceURL.Scheme(rawValue: rest[..<mark.lowerBound].lowercased())
            else { throw wrong("has to begin with http:// or https://, or with the host") }
            scheme = named
            rest = rest[mark.upperBound...]
        } else {
            scheme = nil
        }
        var authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count)
        guard !authority.contains("@") else { throw wrong("has user information") }
        guard !text.hasControlCharacters, !text.contains(where: { "?#\\ ".contains($0) }) else {
            throw wrong("has a character that no pattern has")
        }
        let isAnyPort = authority.hasSuffix(":*")
        if isAnyPort { authority = authority.dropLast(2) }
        let isBelow = authority.hasPrefix("*.")
        if isBelow { authority = authority.dropFirst(2) }
        if authority == "*" {
            (host, port) = (.any, isAnyPort ? .any : .usual)
        } else {
            guard let (name, number) = SourceURL.hostAndPort(authority),
                !(isAnyPort && number != nil)
            else { throw wrong("has no proper host and port") }
            host = isBelow ? .below("." + name) : .exactly(name)
            port = isAnyPort ? .any : number.map { .exactly($0) } ?? .usual
        }
        segments = path.split(separator: "/").map(String.init)
    }

    package func matches(_ url: SourceURL) -> Bool {
        if let scheme, scheme != url.scheme { return false }
        switch host {
        case .any: break
        case .exactly(let name): guard url.host == name else { return false }
        case .below(let end):
            guard url.host.hasSuffix(end) else { return false }
        }
        switch port {
        case .any: break
        case .usual: guard url.port == url.scheme.defaultPort else { return false }
        case .exactly(let number): guard url.port == number else { return false }
        }
        return segments.isEmpty || matchesPath(url.path)
    }

    private func matchesPath(_ path: String) -> Bool {
        var names: [[UInt8]] = []
        // Two slashes are another place to some origins.
        for segment in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            // An origin may decode before it looks for separators, and so leave the folder.
            guard let name = PercentEncoding.bytes(segment.utf8),
                !name.contains(UInt8(ascii: "/")), !name.contains(UInt8(ascii: "\\"))
            else { return false }
            names.append(name)
        }
        guard names.count >= segments.count else { return false }
        return zip(segments, names).allSatisfy { Self.matches(Array($0.utf8), $1) }
    }

    /// Whether `pattern` describes `text`, where `*` is any text: in time of both lengths multiplied.
    private static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
        var (at, position) = (0, 0)
        var star: (after: Int, position: Int)?
        while position < text.count {
            if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
                star = (at + 1, position)
                at += 1
            } else if at < pattern.count, pattern[at] == text[position] {
                at += 1
                position += 1
            } else if let last = star {
                // The last star takes one byte more.
                star = (last.after, last.position + 1)
                at = last.after
                position = last.position + 1
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

package import Foundation

/// The directives of `Cache-Control`, of a request or a response (RFC 9111, section 5.2).
///
/// Nothing in a field's text is an error. What cannot be read makes a response stale at worst.
package struct CacheControlDirectives: Sendable, Hashable {
    enum Argument: Sendable, Hashable {
        case none
        case text(String)
        /// There is something that the grammar does not allow.
        case invalid
    }

    /// By name in lower case. Of a directive given twice the first one counts.
    private var arguments: [String: Argument] = [:]

    /// Whether a quoted string has no end. What it has swallowed may have been anything, so that
    /// the response has no lifetime.
    var isUnterminated = false

    package init() {}

    package var isEmpty: Bool { arguments.isEmpty && !isUnterminated }

    /// Adds a directive unless it is there; `name` is in lower case.
    mutating func note(_ name: String, _ argument: Argument) {
        if arguments[name] == nil { arguments[name] = argument }
    }

    // MARK: Flags: with an argument that they do not take they count all the same

    package var noStore: Bool { has("no-store") }
    package var mustRevalidate: Bool { has("must-revalidate") }
    package var proxyRevalidate: Bool { has("proxy-revalidate") }
    package var mustUnderstand: Bool { has("must-understand") }
    package var isPublic: Bool { has("public") }
    package var isImmutable: Bool { has("immutable") }
    package var onlyIfCached: Bool { has("only-if-cached") }

    // MARK: Flags that may be limited to certain fields

    package var noCache: Bool { has("no-cache") && noCacheFields.isEmpty }
    package var isPrivate: Bool { has("private") && privateFields.isEmpty }

    /// The fields, in lower case, that the directive is limited to; empty when it speaks of the
    /// whole response, is absent or has an argument that is no list of names.
    package var noCacheFields: Set<String> { fieldNames("no-cache") }
    package var privateFields: Set<String> { fieldNames("private") }
    package var hasPrivate: Bool { has("private") }

    // MARK: Seconds; `nil` when absent

    /// 0 when the argument makes no sense: the directive is there, so that nothing else may
    /// take its place.
    package var maxAge: TimeInterval? { seconds("max-age", invalid: 0) }
    package var sharedMaxAge: TimeInterval? { seconds("s-maxage", invalid: 0) }

    /// Infinite without argument.
    package var maxStale: TimeInterval? {
        arguments["max-stale"] == Argument.none ? .infinity : seconds("max-stale", invalid: 0)
    }
    package var minFresh: TimeInterval? { seconds("min-fresh", invalid: nil) }

    /// RFC 5861.
    package var staleWhileRevalidate: TimeInterval? {
        seconds("stale-while-revalidate", invalid: nil)
    }
    package var staleIfError: TimeInterval? { seconds("stale-if-error", invalid: nil) }

    // MARK: Reading

    private func has(_ name: String) -> Bool { arguments[name] != nil }

    private func seconds(_ name: String, invalid: TimeInterval?) -> TimeInterval? {
        switch arguments[name] {
        case nil: nil
        case .text(let text): DeltaSeconds.parse(text) ?? invalid
        case .some: invalid
        }
    }

    private func fieldNames(_ name: String) -> Set<String> {
        guard case .text(let text) = arguments[name] else { return [] }
        let names = text.utf8.split(separator: .comma)
            .map { String(decoding: $0, as: UTF8.self).trimmingFieldSpaces.lowercasedASCII }
            .filter { !$0.isEmpty }
        let areNames = names.allSatisfy { $0.utf8.allSatisfy(\.isTokenByte) }
        return areNames ? Set(names) : []
    }
}

package import Foundation
import HalcyonWork

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

    /// The arguments by name in lower case. The first of repeated directives counts: which number
    /// is meant is unknown.
    private var arguments: [String: Argument] = [:]
    /// The fields, in lower case, that `no-cache` and `private` are limited to: those of all their lists
    /// together, and none where one of them stands without a list, and so speaks of the whole response.
    private var fieldNames: [String: Set<String>] = [:]

    /// Whether a quoted string has no end. What it has swallowed may have been anything, so that
    /// the response has no lifetime.
    var isUnterminated = false

    package init() {}

    /// Adds a directive unless it is there; `name` is in lower case.
    mutating func note(_ name: String, _ argument: Argument) {
        if name == "no-cache" || name == "private" {
            let names = Self.fieldNames(argument)
            let isWhole = names.isEmpty || has(name) && fieldNames[name] == nil
            fieldNames[name] = isWhole ? nil : names.union(fieldNames[name] ?? [])
        }
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
    package var noCacheFields: Set<String> { fieldNames["no-cache"] ?? [] }
    package var privateFields: Set<String> { fieldNames["private"] ?? [] }
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

    /// The names in a list; empty when the argument is none.
    private static func fieldNames(_ argument: Argument) -> Set<String> {
        guard case .text(let text) = argument else { return [] }
        let names = text.fieldMembers.map(\.lowercasedASCII)
        let areNames = names.allSatisfy { $0.utf8.allSatisfy(\.isTokenByte) }
        return areNames ? Set(names) : []
    }
}

extension CacheControlDirectives {
    /// The directives of a message: those of its `Cache-Control` lines; without any such line
    /// those of `Pragma`, of which only `no-cache` means something (RFC 9111, section 5.4).
    ///
    /// In a response `Pragma: no-cache` is undefined by the RFC. Who sends it means it.
    package init(of fields: HTTPFields) {
        let lines = fields.values("Cache-Control")
        if !lines.isEmpty {
            self.init(parsing: lines)
            return
        }
        self.init()
        if CacheControlDirectives(parsing: fields.values("Pragma")).noCache {
            note("no-cache", .none)
        }
    }

    /// Reads `#( token [ "=" ( token / quoted-string ) ] )`, RFC 9111, section 5.2.
    ///
    /// A member of another form (`max-age =3`, `public; max-age=3`) leaves its first token as a
    /// directive with an invalid argument.
    package init(parsing lines: [String]) {
        self.init()
        var reader = FieldReader(lines.joined(separator: ","))
        while !reader.isAtEnd {
            reader.skipSpaces()
            if reader.take(.comma) { continue }
            readMember(&reader)
        }
    }

    private mutating func readMember(_ reader: inout FieldReader) {
        let name = reader.token()?.lowercasedASCII
        var argument = Argument.none
        if name != nil, reader.take(.equals) {
            argument = readArgument(&reader)
        }
        reader.skipSpaces()
        if !reader.isAtEnd, reader.next != .comma {
            argument = .invalid
            if !reader.skipMember() { isUnterminated = true }
        }
        if let name { note(name, argument) }
    }

    private mutating func readArgument(_ reader: inout FieldReader) -> Argument {
        if reader.next == .quote {
            if let text = reader.quotedString() { return .text(text) }
            isUnterminated = true
            return .invalid
        }
        return reader.token().map(Argument.text) ?? .invalid
    }
}

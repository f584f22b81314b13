import Foundation
import HalcyonWork

/// The URL of a source fetched over HTTP, in the form in which it is requested.
///
/// URLs that two programs could read in two ways are refused: with user information, numbers for
/// hosts, backslashes, or hosts that are not ASCII.
package struct SourceURL: Sendable, Hashable {
    package enum Scheme: String, Sendable, Hashable {
        case http, https

        package var defaultPort: Int { self == .http ? 80 : 443 }
    }

    package let scheme: Scheme
    /// In lower case, without a dot at its end; IPv6 in brackets.
    package let host: String
    package let port: Int
    /// Begins with a slash; percent-encoded, without `.` and `..` as segments.
    package let path: String
    /// Percent-encoded; `nil` without `?`.
    package let query: String?

    package var text: String {
        let port = port == scheme.defaultPort ? "" : ":\(port)"
        return "\(scheme.rawValue)://\(host)\(port)\(path)\(query.map { "?" + $0 } ?? "")"
    }

    /// - Parameter text: Its fragment is dropped, and forbidden characters are percent-encoded.
    /// - Throws: `source_not_allowed`.
    package init(_ text: String) throws(PlanError) {
        func refused(_ reason: String) -> PlanError { PlanError(.sourceNotAllowed, reason, .url) }
        guard !text.hasControlCharacters, !text.utf8.contains(UInt8(ascii: "\\")) else {
            throw refused("The source has a control character or a backslash.")
        }
        let whole = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        let name = whole.prefix { $0 != UInt8(ascii: ":") }
        guard let scheme = Scheme(rawValue: String(Substring(name)).lowercased()),
            whole[name.endIndex...].starts(with: "://".utf8)
        else { throw refused("The source has to begin with http:// or https://.") }
        let rest = whole[name.endIndex...].dropFirst(3)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let target = rest[authority.endIndex...]
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw refused("The source has user information.")
        }
        guard let (host, port) = Self.hostAndPort(Substring(authority)) else {
            throw refused("The source has no proper host and port.")
        }
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        self.path = URLSpelling.withoutDotSegments(
            "/" + Self.encoded(path.dropFirst(), keeping: "!$&'()*+,;=:@/"))
        query =
            path.endIndex == target.endIndex
            ? nil : Self.encoded(target[path.endIndex...].dropFirst(), keeping: "!$&'()*+,;=:@/?")
    }

    /// - Parameter authority: Without user information.
    /// - Returns: `nil` if a part is invalid; no port for the scheme's default.
    static func hostAndPort(_ authority: Substring) -> (host: String, port: Int?)? {
        let bytes = authority.utf8
        let end: Substring.UTF8View.Index
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            end = bytes.index(after: bracket)
        } else {
            end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        }
        guard let host = host(String(Substring(bytes[..<end]))) else { return nil }
        let rest = bytes[end...]
        guard let colon = rest.first else { return (host, nil) }
        let digits = rest.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.allSatisfy(\.isDigit), digits.count <= 5 else {
            return nil
        }
        if digits.isEmpty { return (host, nil) }
        guard let port = Int(String(Substring(digits))), (1...65_535).contains(port) else {
            return nil
        }
        return (host, port)
    }

    /// `nil` unless it is a name in ASCII, four numbers in their usual form, or IPv6 in brackets.
    private static func host(_ text: String) -> String? {
        if text.hasPrefix("[") {
            var address = in6_addr()
            let inner = String(text.dropFirst().dropLast())
            return inet_pton(AF_INET6, inner, &address) == 1 ? text.lowercased() : nil
        }
        let name = (text.hasSuffix(".") ? String(text.dropLast()) : text).lowercased()
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isName = labels.allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { $0.isDigit || $0.isLetter || "-_".utf8.contains($0) }
        }
        guard isName, name.utf8.count <= 253, let last = labels.last else { return nil }
        // Such a host would be read as a number: by some programs as octal, by some as 32 bits.
        let isNumber =
            last.allSatisfy(\.isDigit)
            || last.starts(with: "0x".utf8)
                && last.dropFirst(2).allSatisfy { UInt8(hexadecimalDigit: $0) != nil }
        guard isNumber else { return name }
        let isQuad =
            labels.count == 4
            && labels.allSatisfy { label in
                label.allSatisfy(\.isDigit) && UInt8(String(Substring(label))) != nil
                    && (label.count == 1 || label.first != UInt8(ascii: "0"))
            }
        return isQuad ? name : nil
    }

    /// Percent-encodes characters not allowed in a URL. A `%XX` stays.
    private static func encoded(_ text: Substring.UTF8View, keeping kept: String) -> String {
        var encoded = ""
        var rest = text
        while let byte = rest.popFirst() {
            let isEscape =
                byte == UInt8(ascii: "%") && rest.count >= 2
                && rest.prefix(2).allSatisfy { UInt8(hexadecimalDigit: $0) != nil }
            if isEscape || byte.isUnreserved || kept.utf8.contains(byte) {
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                encoded += PercentEncoding.encode(CollectionOfOne(byte))
            }
        }
        return encoded
    }
}

package import Foundation
package import FoundationNetworking

extension URLRequest {
    /// The request that follows a redirect (RFC 9110, section 15.4); `nil` when `response` is not
    /// one.
    ///
    /// Credentials, and header fields whose names look like them, are not handed on to another origin.
    /// - Throws: `TransportError` for a location that cannot be downloaded.
    package func redirected(by response: HTTPURLResponse) throws -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(response.statusCode),
            let location = response.value(forHTTPHeaderField: "Location"), let url
        else { return nil }
        guard let target = HTTPURL.target(of: location, from: url) else {
            throw TransportError.invalidRedirect(location)
        }
        guard HTTPURL.hasHTTPScheme(target) else {
            throw TransportError.redirectToUnsupportedScheme(target.absoluteString)
        }
        guard HTTPURL.isDownloadable(target) else {
            throw TransportError.unsupportedURL(target.absoluteString)
        }
        var next = self
        next.url = target
        let keepsMethod = [307, 308].contains(response.statusCode)
        if !keepsMethod, httpMethod != "GET", httpMethod != "HEAD" {
            next.httpMethod = "GET"
            next.httpBody = nil
        }
        if Origin(target) != Origin(url) {
            for field in (allHTTPHeaderFields ?? [:]).keys where CredentialField.isOne(field) {
                next.setValue(nil, forHTTPHeaderField: field)
            }
        }
        return next
    }
}

/// Header fields that carry credentials and must not reach another origin.
enum CredentialField {
    private static let words: Set = [
        "auth", "authentication", "authorization", "key", "apikey", "accesskey", "authkey",
        "secret",
        "password", "passwd", "credential", "credentials", "cookie", "cookie2", "token", "session",
        "sessionid", "sid", "jwt", "csrf", "xsrf", "signature",
    ]
    private static let endings = ["token", "secret", "password", "apikey"]

    /// Whether `name` is known for credentials, or its words suggest them: `X-Api-Key`.
    static func isOne(_ name: String) -> Bool {
        name.lowercased().split(whereSeparator: { $0 == "-" || $0 == "_" }).contains { word in
            words.contains(String(word)) || endings.contains { word.hasSuffix($0) }
        }
    }
}

package struct Origin: Hashable {
    package let scheme: String?
    package let host: String?
    package let port: Int

    package init(_ url: URL) {
        scheme = url.scheme?.lowercased()
        host = url.host?.lowercased()
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}

package enum HTTPURL {
    /// Whether `url` is an `http` or `https` URL with a host, and a port that exists.
    package static func isDownloadable(_ url: URL) -> Bool {
        hasHTTPScheme(url) && url.host?.isEmpty == false
            && (url.port.map { (1...65535).contains($0) } ?? true)
    }

    /// Returns the URL in a `Location` field, read as browsers do (URL Standard): without white space
    /// around it and tabs within it, and with each `\` before the query as `/`.
    ///
    /// - Parameter url: The URL that the field is relative to.
    /// - Returns: `nil` for what is not a URL, or has control characters.
    package static func target(of location: String, from url: URL) -> URL? {
        var bytes = location.utf8.filter { ![0x09, 0x0A, 0x0D].contains($0) }.drop { $0 <= 0x20 }
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        let path = bytes.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let slashed = path.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
        let text = String(decoding: slashed + bytes[path.endIndex...], as: UTF8.self)
        return URL(string: text, relativeTo: url)?.absoluteURL
    }

    package static func hasHTTPScheme(_ url: URL) -> Bool {
        ["http", "https"].contains(url.scheme?.lowercased())
    }
}

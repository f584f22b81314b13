import Foundation
import FoundationNetworking

extension URLRequest {
    /// The request that follows a redirect (RFC 9110, section 15.4); `nil` when `response` is none.
    ///
    /// Credentials are not handed on to another origin.
    /// - Throws: `ImageTransportError` for a location that is no `http` or `https` URL.
    func redirected(by response: HTTPURLResponse) throws -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(response.statusCode),
            let location = response.value(forHTTPHeaderField: "Location"), let url
        else { return nil }
        guard let target = URL(string: location, relativeTo: url)?.absoluteURL else {
            throw ImageTransportError.invalidRedirect(location)
        }
        guard HTTPURL.hasHTTPScheme(target) else {
            throw ImageTransportError.redirectToUnsupportedScheme(target.absoluteString)
        }
        var next = self
        next.url = target
        let keepsMethod = [307, 308].contains(response.statusCode)
        if !keepsMethod, httpMethod != "GET", httpMethod != "HEAD" {
            next.httpMethod = "GET"
            next.httpBody = nil
        }
        if Origin(target) != Origin(url) {
            for field in ["Authorization", "Cookie", "Proxy-Authorization"] {
                next.setValue(nil, forHTTPHeaderField: field)
            }
        }
        return next
    }
}

/// Scheme, host and port of a URL.
struct Origin: Hashable {
    let scheme: String?
    let host: String?
    let port: Int

    init(_ url: URL) {
        scheme = url.scheme?.lowercased()
        host = url.host?.lowercased()
        port = url.port ?? (scheme == "https" ? 443 : 80)
    }
}

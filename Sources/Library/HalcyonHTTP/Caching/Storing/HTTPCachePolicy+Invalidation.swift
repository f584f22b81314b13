package import Foundation

extension HTTPCachePolicy {
    /// The URLs whose stored responses, of all variants, must be validated after this answer
    /// (RFC 9111, section 4.4).
    ///
    /// After a request that may have changed something these are its own URL and those that
    /// `Location` and `Content-Location` name, as far as they have the same origin.
    package func invalidations(
        after request: HTTPCacheRequest, status: Int, fields: HTTPFields
    ) -> [URL] {
        let isSafe = ["GET", "HEAD", "OPTIONS", "TRACE"].contains(request.method)
        guard !isSafe, (200...399).contains(status) else { return [] }
        var urls = [request.url.absoluteURL]
        for name in ["Location", "Content-Location"] {
            guard let text = fields.first(name), text.utf8.count <= 32 << 10,
                let url = URL(string: text, relativeTo: request.url)?.absoluteURL,
                url.hasSameOrigin(as: request.url), !urls.contains(url)
            else { continue }
            urls.append(url)
        }
        return urls
    }
}

extension URL {
    fileprivate func hasSameOrigin(as other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased()
            && host?.lowercased() == other.host?.lowercased()
            && originPort == other.originPort
    }

    private var originPort: Int? { port ?? ["http": 80, "https": 443][scheme?.lowercased() ?? ""] }
}

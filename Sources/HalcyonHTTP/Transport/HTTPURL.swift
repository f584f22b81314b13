package import Foundation

/// What may be downloaded.
package enum HTTPURL {
    /// Whether `url` is an `http` or `https` URL with a host, and a port that exists.
    package static func isDownloadable(_ url: URL) -> Bool {
        hasHTTPScheme(url) && url.host?.isEmpty == false
            && (url.port.map { (1...65535).contains($0) } ?? true)
    }

    package static func hasHTTPScheme(_ url: URL) -> Bool {
        ["http", "https"].contains(url.scheme?.lowercased())
    }
}

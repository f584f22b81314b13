import Foundation

/// What may be downloaded.
enum HTTPURL {
    /// Whether `url` is an `http` or `https` URL with a host.
    static func isDownloadable(_ url: URL) -> Bool {
        hasHTTPScheme(url) && url.host?.isEmpty == false
    }

    static func hasHTTPScheme(_ url: URL) -> Bool {
        ["http", "https"].contains(url.scheme?.lowercased())
    }
}

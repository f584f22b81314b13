public import Foundation

/// Why a transfer failed, below the level of HTTP status codes.
///
/// Reaches callers as `KingfisherError.responseError(reason: .URLSessionError(error:))`.
public enum TransportError: Error, Equatable, Sendable {
    /// The time limit that was exceeded.
    public enum Timeout: Equatable, Sendable {
        /// No connection within `ImageDownloader.connectTimeout`.
        case connect
        /// Too little arrived within `ImageDownloader.downloadTimeout`.
        case stall
        /// The download did not end within `ImageDownloader.maximumDownloadDuration`.
        case total
    }

    /// The URL has no host, a port that does not exist, or a scheme other than `http` and `https`.
    case unsupportedURL(String)
    /// The request cannot be sent as it is: a header field with a line break, for example.
    case invalidRequest(url: String, reason: String)
    /// The host name does not resolve.
    case cannotResolveHost(host: String, reason: String)
    /// The host refused the connection: nothing listens on the port.
    case connectionRefused(host: String, reason: String)
    /// The host cannot be reached.
    case cannotConnect(host: String, reason: String)
    /// The host's address is one that `ImageDownloader.addressPolicy` does not allow.
    case addressRefused(host: String, address: String)
    /// The server's certificate is not trusted, or the TLS handshake failed.
    case tls(host: String, reason: String)
    /// A time limit was exceeded.
    case timedOut(Timeout, url: String)
    /// The connection broke.
    case connectionReset(url: String, reason: String)
    /// The body was cut short. `received` and `expected` are bytes, where known.
    case incompleteBody(url: String, received: Int64?, expected: Int64?)
    /// The body is (or is announced as) longer than `limit` bytes.
    case responseTooLarge(url: String, limit: Int)
    /// The body has a content encoding that was not asked for, or is not what its encoding says.
    case undecodableBody(url: String, reason: String)
    /// The answer is not HTTP.
    case invalidResponse(url: String, reason: String)
    /// There were more than `limit` redirects, in a loop perhaps.
    case tooManyRedirects(url: String, limit: Int)
    /// A redirect leads to a URL that is neither `http` nor `https`.
    case redirectToUnsupportedScheme(String)
    /// A redirect leads to something that is not a URL.
    case invalidRedirect(String)
    /// Low data mode is active, and the request names a source for that case.
    case lowDataMode(url: String)
    /// The server asked for a pause until then, and the downloader's `honorsServerPause` is on or
    /// the request could wait; nothing was sent.
    case pausedByServer(url: String, until: Date)
    /// The authentication challenge responder cancelled the download.
    case authenticationCancelled(url: String)
    /// Anything else; `reason` is the failing library's own words.
    case other(url: String, reason: String)
}

extension TransportError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { description }

    /// A sentence that names what failed and why; secrets of URLs are masked.
    public var description: String { words.maskingSecrets }

    private var words: String {
        switch self {
        case .unsupportedURL(let url):
            "\(url) cannot be downloaded: only http and https URLs can, with a host and a port up to 65535."
        case .invalidRequest(let url, let reason):
            "The request for \(url) cannot be sent: \(reason)."
        case .cannotResolveHost(let host, let reason):
            "The host \(host) cannot be found: \(reason)."
        case .connectionRefused(let host, let reason):
            "\(host) refused the connection: \(reason)."
        case .cannotConnect(let host, let reason):
            "\(host) cannot be reached: \(reason)."
        case .addressRefused(let host, let address):
            "\(host) was not connected to: its address \(address) is not allowed."
        case .tls(let host, let reason):
            "There is no secure connection to \(host): \(reason)."
        case .timedOut(.connect, let url):
            "Connecting to \(url) took too long."
        case .timedOut(.stall, let url):
            "\(url) sent too little for too long."
        case .timedOut(.total, let url):
            "Downloading \(url) took too long."
        case .connectionReset(let url, let reason):
            "The connection broke while \(url) was downloaded: \(reason)."
        case .incompleteBody(let url, let received?, let expected?):
            "\(url) ended after \(received) of \(expected) bytes."
        case .incompleteBody(let url, _, _):
            "\(url) ended before it was complete."
        case .responseTooLarge(let url, let limit):
            "\(url) is larger than the limit of \(limit) bytes."
        case .undecodableBody(let url, let reason):
            "The body of \(url) cannot be decoded: \(reason)."
        case .invalidResponse(let url, let reason):
            "\(url) did not answer in HTTP: \(reason)."
        case .tooManyRedirects(let url, let limit):
            "\(url) led to more than \(limit) redirects."
        case .redirectToUnsupportedScheme(let url):
            "A redirect to \(url) is not followed: only http and https are."
        case .invalidRedirect(let location):
            "A redirect leads to \(location), which is not a URL."
        case .lowDataMode(let url):
            "\(url) was not downloaded because low data mode is active."
        case .pausedByServer(let url, let end):
            "\(url) was not downloaded because its server asked to be left alone until \(end)."
        case .authenticationCancelled(let url):
            "\(url) was not downloaded because its server's request for credentials was cancelled."
        case .other(let url, let reason):
            "Downloading \(url) failed: \(reason)."
        }
    }
}

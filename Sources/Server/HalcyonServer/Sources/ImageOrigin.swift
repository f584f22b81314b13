public import Foundation

/// A source of pictures that is neither a folder nor a web server: a database, an object store.
///
/// It is registered for a URL scheme. Limits, caches, sharing and metrics are the server's.
///
/// ```swift
/// struct Albums: ImageOrigin {
///     let pictures: [String: Data]
///
///     func fetch(_ request: OriginRequest) async throws -> OriginAnswer {
///         pictures[request.url.path].map { .picture($0) } ?? .notFound
///     }
/// }
/// ```
public protocol ImageOrigin: Sendable {
    /// Fetches a picture: once for all concurrent requests.
    ///
    /// The task is cancelled when the last waiter has left, and after `sources.http.totalTimeout`.
    /// - Throws: Any error, when the picture cannot be loaded at this time. The error's description
    ///   is logged.
    func fetch(_ request: OriginRequest) async throws -> OriginAnswer
}

/// A request to an origin.
public struct OriginRequest: Sendable, Hashable {
    /// The source as the URL of the request names it, such as `album:///2024/1.jpg`.
    public let url: URL
    /// The limit in bytes. A larger picture is refused; it need not be read.
    public let maximumBytes: Int
    /// The version of the cached picture, as told by the origin before. If it is still current, the
    /// answer is ``OriginAnswer/notModified``. `nil` when none is cached.
    public let version: String?
}

/// The answer of an origin.
public enum OriginAnswer: Sendable, Hashable {
    /// The encoded picture.
    ///
    /// - `version`: Changes with the bytes, such as a digest or a number; without one, everything
    ///   is fetched again after `sources.freshness`.
    case picture(Data, version: String? = nil, modified: Date? = nil)
    /// The requested version is still current.
    case notModified
    case notFound
}

public import Foundation

/// A place where pictures come from that is neither a folder nor a web server: a database, a store of objects.
///
/// It is given to a server with the scheme of the sources that it has. Limits, caches, sharing and metrics are
/// the server's.
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
    /// Fetches a picture: once for all who want the same at one time.
    ///
    /// The task is cancelled when nobody waits any longer, and when `sources.http.totalTimeout` is over.
    /// - Throws: Anything, when the picture cannot be had at this time. The log has the words of the error.
    func fetch(_ request: OriginRequest) async throws -> OriginAnswer
}

/// What is asked of an origin.
public struct OriginRequest: Sendable, Hashable {
    /// The source as the URL of the request names it, such as `album:///2024/1.jpg`.
    public let url: URL
    /// A picture with more bytes is refused; it need not be read.
    public let maximumBytes: Int
    /// What the origin has said of the picture that is known here, to be answered with
    /// ``OriginAnswer/notModified`` if it is still the same; `nil` when none is known.
    public let version: String?
}

/// What an origin answers.
public enum OriginAnswer: Sendable, Hashable {
    /// A picture as a file has it.
    ///
    /// - `version`: Another text whenever there are other bytes, such as a digest or a number; without one, all
    ///   is fetched again when `sources.freshness` is over.
    case picture(Data, version: String? = nil, modified: Date? = nil)
    /// It is the one with the version that was asked for.
    case notModified
    case notFound
}

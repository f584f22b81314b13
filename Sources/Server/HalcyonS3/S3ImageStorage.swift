public import Foundation
public import Halcyon
import HalcyonCluster

/// Images that several machines share in a bucket of a store that speaks the protocol of Amazon S3: the third
/// level of an `ImageCache`, behind memory and disk.
///
/// ```swift
/// let store = try S3ImageStorage(endpoint: endpoint, bucket: "pictures")
/// let cache = ImageCache(name: "photos", shared: store)
/// let manager = KingfisherManager(downloader: .default, cache: cache)
/// ```
///
/// The bucket has to be there. Nothing but ``remove(named:)`` removes objects: give the bucket a lifetime for
/// them, somewhat longer than the cache's disk expiration. After five failures in a row the store is not asked
/// for half a second, after each further one twice as long, up to ten seconds; all calls throw meanwhile.
public struct S3ImageStorage: SharedImageStorage {
    /// The credentials that requests to the store are signed with.
    public enum Credentials: Sendable, Hashable {
        /// - Parameter sessionToken: Goes with keys that are good for a while only.
        case keys(access: String, secret: String, sessionToken: String? = nil)
        /// Found where programs for Amazon's services look for them, first in the environment
        /// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`), then in
        /// `~/.aws/credentials` (`AWS_SHARED_CREDENTIALS_FILE`, `AWS_PROFILE`), then at the address that a
        /// container is given (`AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `…_FULL_URI`). Read again each
        /// minute, and before they end.
        case found
    }

    private let store: S3Store

    /// - Parameters:
    ///   - endpoint: Scheme, host and, where needed, port and path; the bucket is the next segment.
    ///   - bucket: Has to be there; it is not made.
    ///   - region: Goes into the signature; stores of one's own mostly take any.
    ///   - credentials: What requests are signed with.
    ///   - prefix: Segments before the names of all objects, without a slash at either end.
    ///   - timeout: How long a request may take, with its connection.
    ///   - maximumBytes: The largest object that is read.
    /// - Throws: `S3ImageStorageError` for an endpoint or a bucket that cannot be one.
    public init(
        endpoint: URL, bucket: String, region: String = "us-east-1",
        credentials: Credentials = .found, prefix: String = "",
        timeout: Duration = .milliseconds(500), maximumBytes: Int = 100 << 20
    ) throws {
        guard ["http", "https"].contains(endpoint.scheme), endpoint.host != nil,
            endpoint.query == nil
        else { throw S3ImageStorageError.endpoint(endpoint.absoluteString) }
        guard !bucket.isEmpty, !bucket.contains("/") else {
            throw S3ImageStorageError.bucket(bucket)
        }
        let found: S3Credentials =
            switch credentials {
            case .keys(let access, let secret, let token):
                S3Credentials(S3Keys(accessKey: access, secretKey: secret, sessionToken: token))
            case .found:
                try S3Credentials(environment: ProcessInfo.processInfo.environment)
            }
        var settings = S3Store.Settings(
            endpoint: endpoint, bucket: bucket, region: region, credentials: found)
        settings.prefix = prefix
        settings.timeout = timeout
        settings.maximumBytes = maximumBytes
        store = try S3Store(settings)
    }

    public func data(named name: String) async throws -> Data? {
        try await store.object("i/\(name)").object?.body
    }

    public func store(_ data: Data, named name: String) async throws {
        _ = try await store.store(SharedObject(body: data), as: "i/\(name)", replacing: true)
    }

    public func remove(named name: String) async throws { try await store.remove("i/\(name)") }
}

/// Why a store cannot be used at all.
public enum S3ImageStorageError: Error, Hashable, Sendable, CustomStringConvertible {
    case endpoint(String)
    case bucket(String)

    public var description: String {
        switch self {
        case .endpoint(let text):
            "The endpoint must be a URL such as https://s3.example.com, not \"\(text)\"."
        case .bucket(let text): "A bucket has a name without slashes, not \"\(text)\"."
        }
    }
}

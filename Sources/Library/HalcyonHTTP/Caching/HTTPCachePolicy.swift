package import Foundation
package import FoundationNetworking
import HalcyonWork

/// Decides about stored responses by the rules of RFC 9111: whether a response may be stored, how
/// long it is fresh, when to ask the server, and how to apply the server's response.
///
/// A value that reads no clock, touches no file and sends nothing: every function is given the time
/// and returns a decision. Header fields are untrusted input; the worst that they can cause is a
/// needless request.
///
///     let policy = HTTPCachePolicy(.on)
///     switch policy.decide(request, with: policy.select(request, among: stored), now: now) {
///     case .use: …
///     }
package struct HTTPCachePolicy: Sendable {
    package let caching: HTTPCaching

    /// The hash of selecting request fields, which may hold credentials and are kept as a hash
    /// only. It has to resist collisions (SHA-256).
    let digest: @Sendable ([UInt8]) -> [UInt8]

    /// The policy of a shared cache, for several users, with the same settings.
    package var inRoleOfAll: HTTPCachePolicy {
        var caching = caching
        caching.role = .shared
        return HTTPCachePolicy(caching, digest: digest)
    }

    /// `caching` with all numbers in their ranges.
    package init(
        _ caching: HTTPCaching,
        digest: @escaping @Sendable ([UInt8]) -> [UInt8] = {
            Array(Digest.sha256.hexadecimal($0).utf8)
        }
    ) {
        var caching = caching
        caching.staleWhileRevalidate = caching.staleWhileRevalidate.clamped
        caching.staleIfError = caching.staleIfError.clamped
        caching.heuristicFraction = min(1, caching.heuristicFraction.clamped)
        caching.heuristicLimit = caching.heuristicLimit.clamped
        caching.fallbackLifetime = caching.fallbackLifetime.clamped
        caching.fixedLifetime = caching.fixedLifetime?.clamped
        if case .on(let statuses, let lifetime, let limit) = caching.negative {
            caching.negative = .on(
                statuses: statuses, lifetime: lifetime.clamped, limit: limit.clamped)
        }
        self.caching = caching
        self.digest = digest
    }

    var isShared: Bool { caching.role == .shared }
}

/// A request as it would be sent: with the fields that the program gave it, and without those
/// that a transport or a resumed download adds (`Accept-Encoding`, `Range`).
package struct HTTPCacheRequest: Sendable {
    package var method: String
    package var url: URL
    package var fields: HTTPFields

    package init(method: String = "GET", url: URL, fields: HTTPFields = [:]) {
        self.method = method
        self.url = url
        self.fields = fields
    }

    /// A request of the program's, which goes to `url`.
    package init(_ request: URLRequest?, to url: URL) {
        let fields = (request?.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
        self.init(
            method: request?.httpMethod ?? "GET", url: url,
            fields: HTTPFields(fields.map { .init(name: $0.key, value: $0.value) }))
    }

    /// Whether the program made the request conditional or asked for a range itself. The cache then
    /// leaves the response to the program.
    package var hasOwnConditions: Bool {
        let conditions = [
            "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range",
            "Range",
        ]
        return conditions.contains(where: fields.contains)
    }
}

extension TimeInterval {
    fileprivate var clamped: TimeInterval { isFinite ? max(0, self) : 0 }
}

extension HTTPCaching.StaleUse {
    fileprivate var clamped: HTTPCaching.StaleUse {
        if case .upTo(let seconds) = self { .upTo(seconds.clamped) } else { self }
    }
}

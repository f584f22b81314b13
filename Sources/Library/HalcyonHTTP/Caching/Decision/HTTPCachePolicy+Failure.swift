package import Foundation

/// How a request ended without a usable answer.
package enum CacheRequestFailure: Sendable, Hashable {
    /// Name not found, refused, unreachable, timed out, reset or broken off.
    case noAnswer
    /// An answer with this status.
    case status(Int)
    /// Everything else: an untrusted certificate, content that is no picture or too large, a
    /// refused redirect, a cancellation.
    case other
}

extension HTTPCachePolicy {
    /// Whether a stored response is used instead of the failure (RFC 9111, section 4.2.4, and
    /// `stale-if-error` of RFC 5861, section 4).
    ///
    /// A `stale-if-error` of the response counts before that of the request. Where there is one
    /// and its time is over, the answer is no, also when the server is unreachable.
    package func usesStale(
        _ stored: StoredResponse?, for request: HTTPCacheRequest,
        after failure: CacheRequestFailure, now: Date
    ) -> Bool {
        guard let stored, request.method == "GET", !request.hasOwnConditions,
            !stored.isInvalidated, failure.allowsStale
        else { return false }
        let rules = rules(of: stored.fields)
        let wishes = CacheControlDirectives(of: request.fields)
        let freshness = freshness(of: stored, rules)
        let staleness = freshness.age(at: now) - freshness.lifetime

        let permitted = rules.directives.staleIfError
        if let window = permitted ?? wishes.staleIfError {
            if staleness >= window { return false }
            if caching.staleIfError != .never,
                !rules.forbidsStale(permittedByResponse: permitted != nil)
            {
                return true
            }
        }
        if rules.forbidsStale(permittedByResponse: false) { return false }
        if case .upTo(let window) = caching.staleIfError, staleness < window { return true }
        return failure == .noAnswer && caching.staleWhenUnreachable
            && !wishes.noCache && wishes.maxAge == nil
    }

    /// Whether a response that is never fresh could still be used, in the best case.
    func mayEverBeUsedStale(_ rules: ResponseRules) -> Bool {
        let directives = rules.directives
        let isPermitted = directives.staleIfError != nil || directives.staleWhileRevalidate != nil
        guard !rules.forbidsStale(permittedByResponse: isPermitted) else { return false }
        return caching.staleWhenUnreachable || caching.staleIfError != .never
            || caching.staleWhileRevalidate != .never
    }
}

extension CacheRequestFailure {
    /// Whether the failure is one of the server or of the way to it.
    fileprivate var allowsStale: Bool {
        switch self {
        case .noAnswer: true
        case .status(let status): [429, 500, 502, 503, 504].contains(status)
        case .other: false
        }
    }
}

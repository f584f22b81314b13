package import Foundation

extension HTTPCachePolicy {
    /// Whether the stored response may be used for the request now (RFC 9111, section 4, and the
    /// request's directives, section 5.2.1).
    ///
    /// The checks run in this order; the first that applies decides. With `only-if-cached` nothing
    /// is sent: a decision that needs a request becomes
    /// ``HTTPCacheDecision/unsatisfiable(because:)``, and a stale response is used without
    /// revalidation.
    package func decide(
        _ request: HTTPCacheRequest, with selection: CacheSelection, now: Date
    ) -> HTTPCacheDecision {
        let wishes = CacheControlDirectives(of: request.fields)
        let decision = decide(request, wishes, selection, now)
        guard wishes.onlyIfCached else { return decision }
        return switch decision {
        case .validate(_, let reason), .fetch(let reason): .unsatisfiable(because: reason)
        case .useStale: .useStale(revalidate: false)
        default: decision
        }
    }

    private func decide(
        _ request: HTTPCacheRequest, _ wishes: CacheControlDirectives,
        _ selection: CacheSelection, _ now: Date
    ) -> HTTPCacheDecision {
        if request.method != "GET" { return .fetch(because: .method) }
        if wishes.noStore { return .fetch(because: .requestNoStore) }
        if request.hasOwnConditions { return .fetch(because: .ownConditions) }
        let stored: StoredResponse
        switch selection {
        case .nothingStored: return .fetch(because: .nothingStored)
        case .varyMismatch: return .fetch(because: .varyMismatch)
        case .response(let response, _): stored = response
        }

        let rules = rules(of: stored.fields)
        let freshness = freshness(of: stored, rules)
        let age = freshness.age(at: now)
        let isFresh = freshness.isFresh(at: now)

        if wishes.noCache { return stored.revalidation(because: .requestNoCache) }
        if rules.directives.noCache { return stored.revalidation(because: .responseNoCache) }
        if caching.validation == .always, !(isFresh && rules.directives.isImmutable) {
            return stored.revalidation(because: .validationAlways)
        }
        let isTooOld = wishes.maxAge.map { age > $0 } ?? false
        let isTooBrief = wishes.minFresh.map { freshness.lifetime - age < $0 } ?? false
        if isFresh, !isTooOld, !isTooBrief { return .use }
        if stored.isInvalidated { return stored.revalidation(because: .invalidated) }
        if now < stored.received { return stored.revalidation(because: .clockSetBack) }
        if isTooOld, wishes.maxStale == nil { return stored.revalidation(because: .requestMaxAge) }
        if wishes.minFresh != nil { return stored.revalidation(because: .requestMinFresh) }
        if isFresh { return stored.revalidation(because: .requestMaxAge) }

        let staleness = age - freshness.lifetime
        if let accepted = wishes.maxStale, staleness <= accepted,
            !rules.forbidsStale(permittedByResponse: false)
        {
            return .useStale(revalidate: false)
        }
        if wishes.maxAge == nil, allowsStaleWhileRevalidating(rules, staleness: staleness) {
            return .useStale(revalidate: true)
        }
        return stored.revalidation(because: .stale)
    }

    /// Until when any request without caching fields of its own may use the response, without
    /// a decision about each; `nil` when every request needs one: because of `Vary`, `no-cache`,
    /// an invalidation, or a setting.
    package func usableWithoutDecision(_ stored: StoredResponse) -> Date? {
        let rules = rules(of: stored.fields)
        let isAsked = caching.validation == .always && !rules.directives.isImmutable
        guard stored.vary.isEmpty, !stored.isInvalidated, !rules.directives.noCache, !isAsked
        else { return nil }
        return freshness(of: stored, rules).freshUntil
    }

    /// RFC 5861, section 3, and the setting.
    private func allowsStaleWhileRevalidating(
        _ rules: ResponseRules, staleness: TimeInterval
    ) -> Bool {
        if caching.staleWhileRevalidate == .never { return false }
        if let window = rules.directives.staleWhileRevalidate, staleness < window {
            return !rules.forbidsStale(permittedByResponse: true)
        }
        if case .upTo(let window) = caching.staleWhileRevalidate, staleness < window {
            return !rules.forbidsStale(permittedByResponse: false)
        }
        return false
    }
}

/// The decision about a request: from the cache, from the server, or neither.
package enum HTTPCacheDecision: Sendable, Hashable {
    /// The stored response is used; nothing is sent.
    case use
    /// The stored response is used although it is stale; with `revalidate` the server is asked
    /// afterwards.
    case useStale(revalidate: Bool)
    /// The server is asked whether the stored response is still valid.
    case validate(ValidationCondition, because: CacheMissReason)
    /// The full response is requested.
    case fetch(because: CacheMissReason)
    /// Nothing may be sent, and nothing stored may be used.
    case unsatisfiable(because: CacheMissReason)
}

/// The reason why a stored response is not simply used.
package enum CacheMissReason: Sendable, Hashable {
    case method
    case requestNoStore
    /// The program made the request conditional or asked for a range.
    case ownConditions
    case nothingStored
    /// The stored responses were selected by other request fields.
    case varyMismatch
    case requestNoCache
    case responseNoCache
    /// The program wants the server to be asked.
    case validationAlways
    case invalidated
    /// The clock is behind the time of receipt.
    case clockSetBack
    case requestMaxAge
    case requestMinFresh
    case stale
}

/// The validator that a server compares with its current one (RFC 9110, section 13.1).
package enum ValidationCondition: Sendable, Hashable {
    case entityTag(EntityTag)
    /// The text of `Last-Modified` as it was received.
    case lastModified(String)

    package var line: HTTPFields.Line {
        switch self {
        case .entityTag(let tag): .init(name: "If-None-Match", value: tag.text)
        case .lastModified(let date): .init(name: "If-Modified-Since", value: date)
        }
    }
}

extension StoredResponse {
    /// The condition for validating it: its `ETag`, whatever its syntax, else its valid
    /// `Last-Modified` (RFC 9111, section 4.3.1).
    package var condition: ValidationCondition? {
        if let tag = EntityTag(of: fields), tag.isUsable { return .entityTag(tag) }
        if lastModified != nil, let text = fields.first("Last-Modified") {
            return .lastModified(text)
        }
        return nil
    }

    /// The decision that revalidates it: with its condition, or without one by a full request. Also
    /// used in the background after ``HTTPCacheDecision/useStale(revalidate:)``.
    package func revalidation(because reason: CacheMissReason) -> HTTPCacheDecision {
        condition.map { .validate($0, because: reason) } ?? .fetch(because: reason)
    }
}

extension HTTPCachePolicy {
    /// The fields to be sent after a decision: the request's own, with the condition if there is
    /// one. Under `.always` also `Cache-Control: max-age=0`, so that caches on the way ask too;
    /// a `Cache-Control` of the program's own stays as it is.
    ///
    /// A condition belongs to one hop and is not carried along a redirect.
    package func fields(
        toSend request: HTTPCacheRequest, after decision: HTTPCacheDecision
    ) -> HTTPFields {
        var fields = request.fields
        if request.method == "GET", caching.validation == .always,
            !fields.contains("Cache-Control")
        {
            fields.append("Cache-Control", "max-age=0")
        }
        if case .validate(let condition, _) = decision {
            fields.append(condition.line.name, condition.line.value)
        }
        return fields
    }
}

/// The choice among the responses under one key for a request.
package enum CacheSelection: Sendable, Hashable {
    /// The response and its position among those given.
    case response(StoredResponse, index: Int)
    case nothingStored
    /// All of them were selected by other request fields.
    case varyMismatch
}

extension HTTPCachePolicy {
    /// Chooses among the responses stored under the request's key (RFC 9111, section 4.1).
    ///
    /// A response without `Vary` beside others with it is used only when it is the newest: the
    /// server did not vary before, or no longer does. Among several the latest `Date` wins, then
    /// the latest time of receipt.
    package func select(
        _ request: HTTPCacheRequest, among responses: [StoredResponse]
    ) -> CacheSelection {
        if responses.isEmpty { return .nothingStored }
        let newestVarying = responses.filter { !$0.vary.isEmpty }
            .max { $1.isNewer(than: $0) }
        let best = responses.enumerated()
            .filter { _, response in
                guard matches(response, request) else { return false }
                guard let newestVarying, response.vary.isEmpty else { return true }
                return response.isNewer(than: newestVarying)
            }
            .max { $1.element.isNewer(than: $0.element) }
        guard let best else { return .varyMismatch }
        return .response(best.element, index: best.offset)
    }

    /// Whether the request has the same selecting fields as the one that `response` answered.
    ///
    /// A new response supersedes those under its key that match its request.
    package func matches(_ response: StoredResponse, _ request: HTTPCacheRequest) -> Bool {
        if response.vary.contains("*") { return false }
        return response.variant == variant(of: request, naming: response.vary)
    }

    /// The hash of the request's fields of these names; empty without names.
    func variant(of request: HTTPCacheRequest, naming names: [String]) -> [UInt8] {
        names.isEmpty ? [] : digest(VaryKey.canonical(names, of: request.fields))
    }
}

extension StoredResponse {
    fileprivate func isNewer(than other: StoredResponse) -> Bool {
        let dates = (date ?? received, other.date ?? other.received)
        return dates.0 == dates.1 ? received > other.received : dates.0 > dates.1
    }
}

package enum CacheRequestFailure: Sendable, Hashable {
    /// Name not found, connection refused, unreachable, timed out, reset or cut short.
    case noAnswer
    case status(Int)
    /// Everything else: an untrusted certificate, content that is not an image or too large, a
    /// refused redirect, a cancellation.
    case other
}

extension HTTPCachePolicy {
    /// Whether a stored response is used instead of the failure (RFC 9111, section 4.2.4, and
    /// `stale-if-error` of RFC 5861, section 4).
    ///
    /// The response's `stale-if-error` takes precedence over the request's. Once its time is over,
    /// the result is `false`, also when the server is unreachable.
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

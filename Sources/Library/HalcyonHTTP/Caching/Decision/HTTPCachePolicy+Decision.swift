package import Foundation

extension HTTPCachePolicy {
    /// Whether the stored response may be used for the request now (RFC 9111, section 4, and the
    /// request's directives, section 5.2.1).
    ///
    /// The rows are asked in this order; the first that applies decides. With `only-if-cached` what
    /// would have to be sent is unsatisfiable, and nothing is revalidated.
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

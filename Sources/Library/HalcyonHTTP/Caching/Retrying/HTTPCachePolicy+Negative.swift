package import Foundation

extension HTTPCachePolicy {
    /// Until when an error is remembered; `nil` when it is not.
    ///
    /// For what is left of the lifetime that the answer says, else for that of the setting, and
    /// never beyond the setting's limit. Guesses by `Last-Modified` are for content.
    package func rememberedUntil(_ stored: StoredResponse) -> Date? {
        guard case .on(let statuses, let lifetime, let limit) = caching.negative,
            statuses.contains(stored.status), !Self.neverRemembered.contains(stored.status),
            (400...499).contains(stored.status)
        else { return nil }
        let rules = rules(of: stored.fields)
        if rules.directives.noCache { return nil }
        let explicit =
            rules.isDeclaredPublic
            ? nil
            : explicitLifetime(of: stored, rules).map {
                $0 - freshness(of: stored, rules).initialAge
            }
        let seconds = min(limit, explicit ?? lifetime)
        return seconds > 0 ? stored.received.addingTimeInterval(seconds) : nil
    }

    /// Whether a remembered error answers the request without asking the server.
    package func answersWithRemembered(
        _ stored: StoredResponse, _ request: HTTPCacheRequest, now: Date
    ) -> Bool {
        guard let until = rememberedUntil(stored), !stored.isInvalidated,
            now >= stored.received, now < until, caching.validation != .always,
            request.method == "GET", !request.hasOwnConditions, matches(stored, request)
        else { return false }
        let wishes = CacheControlDirectives(of: request.fields)
        return !wishes.noCache && !wishes.noStore
            && wishes.maxAge.map { freshness(of: stored).age(at: now) <= $0 } ?? true
    }

    /// Statuses that say something about the caller or the moment, not about the picture.
    private static let neverRemembered: Set<Int> = [401, 403, 407, 408, 429]
}

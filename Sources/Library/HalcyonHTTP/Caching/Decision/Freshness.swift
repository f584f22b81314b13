package import Foundation

/// How long a response is fresh, and how old it is (RFC 9111, section 4.2). All in seconds.
package struct Freshness: Sendable, Hashable {
    package let lifetime: TimeInterval
    /// Its age when it was received.
    package let initialAge: TimeInterval
    package let received: Date
    package let isInvalidated: Bool

    /// Its age; never less than when it was received.
    package func age(at now: Date) -> TimeInterval {
        initialAge + max(0, now.timeIntervalSince(received))
    }

    /// A response from the future is stale: a clock that was set back says nothing about age.
    package func isFresh(at now: Date) -> Bool {
        lifetime > age(at: now) && !isInvalidated && now >= received
    }

    /// When it becomes stale, invalidated or not.
    package var freshUntil: Date { received.addingTimeInterval(lifetime - initialAge) }
}

extension HTTPCachePolicy {
    package func freshness(of stored: StoredResponse) -> Freshness {
        freshness(of: stored, rules(of: stored.fields))
    }

    /// The same with the rules at hand.
    func freshness(of stored: StoredResponse, _ rules: ResponseRules) -> Freshness {
        Freshness(
            lifetime: explicitLifetime(of: stored, rules) ?? guessedLifetime(of: stored, rules),
            initialAge: initialAge(of: stored),
            received: stored.received, isInvalidated: stored.isInvalidated)
    }

    /// RFC 9111, section 4.2.3. The difference to `Date` counts, so that clocks that disagree
    /// lead to validations and not to stale pictures.
    private func initialAge(of stored: StoredResponse) -> TimeInterval {
        let apparent = stored.date.map { stored.received.timeIntervalSince($0) } ?? 0
        let delay = max(0, stored.received.timeIntervalSince(stored.requested))
        let corrected = DeltaSeconds.age(in: stored.fields).map { $0 + delay } ?? delay
        return max(0, apparent, corrected)
    }

    /// What the response says of its lifetime (RFC 9111, section 4.2.1); `nil` when it says nothing.
    func explicitLifetime(of stored: StoredResponse, _ rules: ResponseRules) -> TimeInterval? {
        if let fixed = caching.fixedLifetime { return fixed }
        if rules.directives.isUnterminated { return 0 }
        if let seconds = rules.sharedMaxAge ?? rules.directives.maxAge { return seconds }
        guard rules.usesExpires, stored.fields.contains("Expires") else { return nil }
        // Several lines, and those that are no date, mean that it has expired.
        let lines = stored.fields.values("Expires")
        guard lines.count == 1,
            let expires = HTTPDateParser.date(lines[0], now: stored.received)
        else { return 0 }
        return max(0, expires.timeIntervalSince(stored.date ?? stored.received))
    }

    /// A part of the time since the last change (RFC 9111, section 4.2.2), also for URLs with a
    /// query; else, for a `200` that says nothing at all, the fallback.
    private func guessedLifetime(of stored: StoredResponse, _ rules: ResponseRules) -> TimeInterval
    {
        let mayGuess =
            Self.heuristicallyCacheable.contains(stored.status) || rules.directives.isPublic
        let date = stored.date ?? stored.received
        if mayGuess, let modified = stored.lastModified, modified < date {
            return min(
                caching.heuristicLimit,
                caching.heuristicFraction * date.timeIntervalSince(modified))
        }
        let speaks = ["Cache-Control", "Expires", "Last-Modified", "ETag"]
        let isSilent = stored.status == 200 && !speaks.contains(where: stored.fields.contains)
        return isSilent ? caching.fallbackLifetime : 0
    }

    /// RFC 9110, section 15.1, without 206.
    static let heuristicallyCacheable: Set<Int> = [
        200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
    ]
}

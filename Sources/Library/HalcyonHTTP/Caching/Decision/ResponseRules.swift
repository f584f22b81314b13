package import Foundation

/// A response's own caching rules, as they apply in the policy's role.
package struct ResponseRules: Sendable {
    package let directives: CacheControlDirectives
    let usesExpires: Bool
    let isShared: Bool
    /// Whether the operator vouches for the response, whatever it says.
    var isDeclaredPublic = false

    var isForOneUserOnly: Bool { isShared && directives.isPrivate }

    /// Seconds of `s-maxage`, which a private cache ignores.
    var sharedMaxAge: TimeInterval? { isShared ? directives.sharedMaxAge : nil }

    /// Whether a shared cache may store the response to a request with `Authorization`
    /// (RFC 9111, section 3.5).
    var allowsAuthorization: Bool {
        isDeclaredPublic || directives.isPublic || directives.mustRevalidate || sharedMaxAge != nil
    }

    /// The fields that are not stored (RFC 9111, sections 5.2.2.4 and 5.2.2.7).
    var unstoredFields: Set<String> {
        directives.noCacheFields.union(isShared ? directives.privateFields : [])
    }

    /// Whether the response may not be used stale (RFC 9111, section 4.2.4).
    ///
    /// `s-maxage` forbids it like `proxy-revalidate`, unless a `stale-…` directive of the same
    /// response permits it: a server that sends both means both, and extensions may loosen rules.
    func forbidsStale(permittedByResponse: Bool) -> Bool {
        if directives.mustRevalidate || directives.noCache { return true }
        guard isShared else { return false }
        return directives.proxyRevalidate || (sharedMaxAge != nil && !permittedByResponse)
    }
}

extension HTTPCachePolicy {
    /// The rules in a response's fields: in the shared role those of the first targeted field that
    /// is present and makes sense (RFC 9213, section 2.2), else those of `Cache-Control` and
    /// `Expires`. None at all with a fixed lifetime.
    package func rules(of fields: HTTPFields) -> ResponseRules {
        if caching.fixedLifetime != nil {
            return ResponseRules(
                directives: .init(), usesExpires: false, isShared: isShared,
                isDeclaredPublic: true)
        }
        if isShared {
            for name in caching.targetedFields {
                if let directives = CacheControlDirectives(targeted: fields.values(name)) {
                    return ResponseRules(
                        directives: directives, usesExpires: false, isShared: true)
                }
            }
        }
        return ResponseRules(
            directives: CacheControlDirectives(of: fields), usesExpires: true, isShared: isShared)
    }
}

extension CacheControlDirectives {
    /// The directives of a targeted field, a dictionary of Structured Fields; `nil` when it is
    /// empty or does not parse as a whole.
    package init?(targeted lines: [String]) {
        guard !lines.isEmpty,
            let dictionary = StructuredDictionary(lines.joined(separator: ",")),
            !dictionary.members.isEmpty
        else { return nil }
        self.init()
        for (name, value) in dictionary.members {
            switch value {
            case .boolean(true): note(name, .none)
            // It says that the directive is not there.
            case .boolean(false): break
            case .integer(let seconds): note(name, .text(String(seconds)))
            case .other: note(name, .invalid)
            }
        }
    }
}

/// The freshness lifetime and the age of a response in seconds (RFC 9111, section 4.2).
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

    /// The explicit lifetime (RFC 9111, section 4.2.1); `nil` when the response has none.
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

package import Foundation

/// The pause after failures: of a server that asks for it, or of a response whose validation fails
/// while it is used stale.
package struct FailurePause: Sendable, Hashable {
    /// The end of the pause; `nil` when nothing has failed since the last success.
    package private(set) var until: Date?

    /// The pauses after failures without a `Retry-After`.
    private let backoff: ExponentialBackoff
    private var unspecifiedFailures = 0

    /// The longest pause in seconds, whatever a server asks for.
    static let limit: TimeInterval = 300

    package init(_ backoff: ExponentialBackoff) {
        self.backoff = backoff
    }

    /// Notes a failure. A later failure never shortens a pause.
    ///
    /// - Parameters:
    ///   - retryAfter: the server's `Retry-After` in seconds.
    ///   - chance: 0 to 1, for the waiting time.
    package mutating func noteFailure(
        at now: Date, retryAfter: TimeInterval? = nil, chance: Double
    ) {
        if retryAfter == nil, unspecifiedFailures < .max { unspecifiedFailures += 1 }
        let delay =
            retryAfter.map { min(Self.limit, max(0, $0)) }
            ?? backoff.delay(afterFailures: unspecifiedFailures, chance: chance)
        let end = now.addingTimeInterval(delay)
        until = until.map { max($0, end) } ?? end
    }

    package mutating func noteSuccess() {
        until = nil
        unspecifiedFailures = 0
    }

    /// Notes a server's response: 429 and 503 ask for a pause, a status below 400 ends it.
    package mutating func noteAnswer(
        status: Int, fields: HTTPFields, received: Date, chance: Double
    ) {
        switch status {
        case ..<400: noteSuccess()
        case 429, 503:
            let asked = RetryAfter.delay(status: status, fields: fields, received: received)
            noteFailure(at: received, retryAfter: asked, chance: chance)
        default: break
        }
    }

    /// The end of the pause if it is under way.
    package func end(at now: Date) -> Date? {
        until.flatMap { now < $0 ? $0 : nil }
    }
}

/// The pause that a server asks for (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// The longest accepted time: a day.
    package static let limit: TimeInterval = 86_400

    /// The seconds to wait after `received`; `nil` when the response does not ask for it.
    ///
    /// A date is compared with the response's own `Date` where it has one, so that the clocks of
    /// server and client need not agree.
    package static func delay(
        status: Int, fields: HTTPFields, received: Date
    ) -> TimeInterval? {
        guard [413, 429, 503].contains(status) else { return nil }
        for line in fields.values("Retry-After") {
            if let seconds = DeltaSeconds.parse(line.trimmingFieldSpaces) {
                return min(limit, seconds)
            }
            if let date = HTTPDateParser.date(line, now: received) {
                let sent = fields.date(receivedAt: received) ?? received
                return min(limit, max(0, date.timeIntervalSince(sent)))
            }
        }
        return nil
    }
}

/// Waiting times that double with every failure in a row.
package struct ExponentialBackoff: Sendable, Hashable {
    /// Seconds after the first failure.
    package var base: TimeInterval
    /// The longest time before chance is added.
    package var limit: TimeInterval
    /// The part by which chance shortens or lengthens the time, 0 to 1. It keeps many callers from
    /// returning at the same moment.
    package var jitter: Double

    package init(base: TimeInterval, limit: TimeInterval, jitter: Double = 0.2) {
        self.base = base.isFinite ? max(0, base) : 0
        self.limit = limit.isFinite ? max(0, limit) : 0
        self.jitter = jitter.isFinite ? min(1, max(0, jitter)) : 0
    }

    /// `min(limit, base × 2ⁿ) × (1 ± jitter)`, where `n` is the number of failures before the last.
    ///
    /// - Parameter chance: 0 to 1; 0.5 changes nothing.
    package func delay(afterFailures failures: Int, chance: Double) -> TimeInterval {
        let doublings = Double(min(1000, max(1, failures) - 1))
        let plain = base == 0 ? 0 : min(limit, base * pow(2, doublings))
        let chance = chance.isFinite ? min(1, max(0, chance)) : 0.5
        return plain * (1 + jitter * (2 * chance - 1))
    }

    /// The backoff between attempts while a stale response is used instead of errors.
    package static let whileStaleOnError = ExponentialBackoff(base: 5, limit: 60, jitter: 0)

    package static let backgroundRevalidation = ExponentialBackoff(base: 5, limit: 300, jitter: 0)

    /// The backoff between requests to a server that asked for a pause without a time.
    package static let serverPause = ExponentialBackoff(base: 1, limit: 60)
}

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

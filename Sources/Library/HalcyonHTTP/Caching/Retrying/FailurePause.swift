package import Foundation

/// How long something that keeps failing is left alone: a server that asks for it, a response whose
/// validation fails while it is used stale.
package struct FailurePause: Sendable, Hashable {
    /// The end of the pause; `nil` when nothing has failed since the last success.
    package private(set) var until: Date?

    /// For failures that do not say themselves how long.
    private let backoff: ExponentialBackoff
    private var unspecifiedFailures = 0

    /// However long a server asks for.
    static let limit: TimeInterval = 300

    package init(_ backoff: ExponentialBackoff) {
        self.backoff = backoff
    }

    /// - Parameters:
    ///   - retryAfter: what the server asked for, in seconds.
    ///   - chance: 0 to 1, for the waiting time.
    ///
    /// A pause is never made shorter by a later failure.
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

    /// Notes an answer of a server: 429 and 503 ask for a pause, an answer below 400 ends it.
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

/// How long a server asks to be left alone (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// The longest time that is believed: a day.
    package static let limit: TimeInterval = 86_400

    /// The seconds to wait after `received`; `nil` when the answer does not ask for it.
    ///
    /// A date is compared with the answer's own `Date` where it has one, so that the clocks of
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
                let sent = fields.first("Date").flatMap {
                    HTTPDateParser.date($0, now: received)
                }
                return min(limit, max(0, date.timeIntervalSince(sent ?? received)))
            }
        }
        return nil
    }
}

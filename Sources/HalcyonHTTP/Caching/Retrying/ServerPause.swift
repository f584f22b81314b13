package import Foundation

/// Whether one server wants to be left alone, by its answers so far.
package struct ServerPause: Sendable, Hashable {
    /// The end of the pause; `nil` when there has been none since the last good answer.
    package private(set) var until: Date?

    /// Answers in a row that asked for a pause without saying how long.
    private var unspecified = 0

    /// However long the server asks for.
    static let limit: TimeInterval = 300

    package init() {}

    /// Notes an answer. 429 and 503 pause the server for their `Retry-After`, else for 1, 2, 4 and
    /// up to 60 s, more or less; an answer below 400 ends that.
    ///
    /// A pause is never made shorter by a later answer that asks for one.
    package mutating func note(
        status: Int, fields: HTTPFields, received: Date, chance: Double
    ) {
        switch status {
        case ..<400:
            self = ServerPause()
        case 429, 503:
            let delay: TimeInterval
            if let asked = RetryAfter.delay(status: status, fields: fields, received: received) {
                delay = min(Self.limit, asked)
            } else {
                unspecified += 1
                delay = ExponentialBackoff.serverPause.delay(
                    afterFailures: unspecified, chance: chance)
            }
            let end = received.addingTimeInterval(delay)
            until = until.map { max($0, end) } ?? end
        default:
            break
        }
    }

    /// The end of the pause if it is under way.
    package func end(at now: Date) -> Date? {
        until.flatMap { now < $0 ? $0 : nil }
    }
}

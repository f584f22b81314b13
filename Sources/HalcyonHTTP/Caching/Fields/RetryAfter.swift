package import Foundation

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

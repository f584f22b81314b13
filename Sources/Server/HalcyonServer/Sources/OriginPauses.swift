import Foundation
import HalcyonHTTP
import HalcyonWork

/// Which servers want to be left alone, and until when: those that have answered 429 or 503 with `Retry-After`,
/// to this image server or to one that tells this one.
///
/// Not a `WorkTable`: requests during a pause are refused, not shared.
final class OriginPauses: Sendable {
    /// Given what tells other image servers; not under a lock.
    let teller = OneShot<@Sendable (_ origin: String, _ end: Date) -> Void>()
    private let ends = Observed<[String: Date]>([:])

    /// However long a server asks for.
    private static let longest: TimeInterval = 300
    /// With more servers than this, those whose pause is over are forgotten, and if that are not enough, all.
    private static let mostOrigins = 10_000

    /// Until when the server of `url` is left alone; `nil` when it may be asked.
    func end(for url: URL, at now: Date) -> Date? {
        ends.read { ends in
            // Mostly nobody has asked for a pause.
            guard !ends.isEmpty, let end = ends[Self.name(of: url)], now < end,
                // Otherwise the clock has been set back.
                end.timeIntervalSince(now) <= Self.longest
            else { return nil }
            return end
        }
    }

    /// Notes an answer of the server of `url`, and tells others when it asks for a pause.
    func note(status: Int, fields: HTTPFields, from url: URL, at now: Date) {
        guard status == 429 || status == 503,
            let delay = RetryAfter.delay(status: status, fields: fields, received: now), delay > 0
        else { return }
        let name = Self.name(of: url)
        let end = now.addingTimeInterval(min(delay, Self.longest))
        guard learn(name, until: end, at: now) else { return }
        teller.whenGiven { $0(name, end) }
    }

    /// Notes a pause that somebody has heard of. It is never made shorter; returns whether it was news: later
    /// than what was known by more than a second.
    @discardableResult
    func learn(_ origin: String, until end: Date, at now: Date) -> Bool {
        let end = min(end, now.addingTimeInterval(Self.longest))
        guard end > now else { return false }
        return ends.update { ends in
            if let last = ends[origin], end <= last.addingTimeInterval(1),
                last.timeIntervalSince(now) <= Self.longest
            {
                return false
            }
            if ends.count >= Self.mostOrigins {
                ends = ends.filter { $0.value > now }
                if ends.count >= Self.mostOrigins { ends = [:] }
            }
            ends[origin] = end
            return true
        }
    }

    /// Waits until the server of `url` is known to have asked for a pause.
    func wait(for url: URL) async { await ends.wait { $0[Self.name(of: url)] != nil } }

    private static func name(of url: URL) -> String {
        let origin = Origin(url)
        return "\(origin.scheme ?? "")://\(origin.host ?? ""):\(origin.port)"
    }
}

import Foundation
import HalcyonHTTP
import HalcyonWork
import Synchronization

/// Which servers want to be left alone, and until when: those that have answered 429 or 503 with `Retry-After`,
/// to this image server or to one that tells this one.
final class OriginPauses: Sendable {
    /// Given what tells other image servers; not under a lock.
    let teller = OneShot<@Sendable (_ origin: String, _ end: Date) -> Void>()
    private let known = Mutex((ends: [String: Date](), change: NextChange()))

    /// However long a server asks for.
    private static let longest: TimeInterval = 300
    /// With more servers than this, those whose pause is over are forgotten, and if that are not enough, all.
    private static let mostOrigins = 10_000

    /// Until when the server of `url` is left alone; `nil` when it may be asked.
    func end(for url: URL, at now: Date) -> Date? {
        known.withLock { known in
            // Mostly nobody has asked for a pause.
            guard !known.ends.isEmpty, let end = known.ends[Self.name(of: url)], now < end,
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

    /// Notes a pause that somebody has heard of. It is never made shorter.
    ///
    /// - Returns: Whether it was news: later than what was known by more than a second.
    @discardableResult
    func learn(_ origin: String, until end: Date, at now: Date) -> Bool {
        let end = min(end, now.addingTimeInterval(Self.longest))
        guard end > now else { return false }
        let (isNews, change) = known.withLock { known -> (Bool, OneShot<Void>?) in
            if let last = known.ends[origin], end <= last.addingTimeInterval(1),
                last.timeIntervalSince(now) <= Self.longest
            {
                return (false, nil)
            }
            if known.ends.count >= Self.mostOrigins {
                known.ends = known.ends.filter { $0.value > now }
                if known.ends.count >= Self.mostOrigins { known.ends = [:] }
            }
            known.ends[origin] = end
            return (true, known.change.taken())
        }
        change?.give(())
        return isNews
    }

    /// Waits until the server of `url` is known to have asked for a pause.
    func untilKnown(for url: URL) async {
        await NextChange.wait(for: { (isKnown: Bool) in isKnown }) {
            known.withLock { ($0.ends[Self.name(of: url)] != nil, $0.change.awaited()) }
        }
    }

    private static func name(of url: URL) -> String {
        let origin = Origin(url)
        return "\(origin.scheme ?? "")://\(origin.host ?? ""):\(origin.port)"
    }
}

import HalcyonWork
import Synchronization

/// Tells requests under way of purges.
final class PurgeJournal: Sendable {
    private let log = Mutex(PurgeLog())
    private let heard = Mutex((count: 0, change: NextChange()))

    /// Begins a visit, before the first lookup.
    func visit() -> PurgeVisit { PurgeVisit(self, start: log.withLock { $0.begin() }) }

    func note(_ purge: Purge) { log.withLock { $0.note(purge) } }

    /// Notes that a purge of another server has been carried out.
    func noteHeard() {
        let change = heard.withLock { heard in
            heard.count += 1
            return heard.change.taken()
        }
        change?.give(())
    }

    /// Waits until this number of purges of other servers has been carried out.
    func until(heard wanted: Int) async {
        await NextChange.wait(for: { (count: Int) in count >= wanted }) {
            heard.withLock { ($0.count, $0.change.awaited()) }
        }
    }

    fileprivate func end(_ start: Int) { log.withLock { $0.end(start) } }

    fileprivate func hasForgotten(_ start: Int, _ matches: (Purge) -> Bool) -> Bool {
        log.withLock { $0.hasForgotten(since: start, where: matches) }
    }

    fileprivate func count() -> Int { log.withLock { $0.count } }
}

/// The lifetime of one request's use of a source.
final class PurgeVisit: Sendable {
    private let journal: PurgeJournal
    /// The number of purges before the visit.
    let start: Int

    fileprivate init(_ journal: PurgeJournal, start: Int) {
        self.journal = journal
        self.start = start
    }

    deinit { journal.end(start) }

    /// Whether nothing at all has been purged since.
    var isUndisturbed: Bool { journal.count() == start }

    func hasForgotten(_ origin: PictureOrigin) -> Bool {
        journal.hasForgotten(start) { $0.matches(origin) }
    }
}

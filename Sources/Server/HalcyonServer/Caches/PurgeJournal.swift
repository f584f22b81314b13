import HalcyonWork
import Synchronization

/// Tells requests under way of purges.
final class PurgeJournal: Sendable {
    fileprivate let log = Mutex(PurgeLog())
    /// The number of purges of other servers that have been carried out.
    let heard = Observed(0)

    /// Begins a visit, before the first lookup.
    func visit() -> PurgeVisit { PurgeVisit(self, start: log.withLock { $0.begin() }) }

    func note(_ purge: Purge) { log.withLock { $0.note(purge) } }
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

    deinit { journal.log.withLock { $0.end(start) } }

    /// Whether nothing at all has been purged since.
    var isUndisturbed: Bool { journal.log.withLock { $0.count } == start }

    func hasForgotten(_ origin: PictureOrigin) -> Bool {
        journal.log.withLock { $0.hasForgotten(since: start) { $0.matches(origin) } }
    }
}

import Synchronization

/// Work under way, as the table that shares it sees it.
package protocol WorkJob: Sendable {
    /// Nobody waits for it any more: to end at its next step.
    func stop()

    /// Takes note of how urgent its most urgent caller is. Called under the table's lock.
    func note(priority: Float)

    /// Acts on the priority noted last.
    func priorityChanged()
}

/// Work that is done once for all who want it while it is under way or its result is kept.
///
/// The first caller for a key starts the work, others join; each may leave alone, and the job is stopped
/// when the last one has; it is as urgent as its most urgent caller. `WorkLedger` decides all this and
/// says how long results are kept; the table carries it out, with its lock released.
package final class WorkTable<
    Group: Hashable & Sendable, Key: Hashable & Sendable, Job: WorkJob, Caller: Sendable,
    Result: Sendable
>: Sendable {
    package typealias Ledger = WorkLedger<Group, Key, Job, Caller, Result>
    package typealias Ticket = Ledger.Ticket
    package typealias Visit = Ledger.Visit
    package typealias Join = Ledger.Join

    private let ledger = Mutex(Ledger())
    let isWorthKeeping: @Sendable (Result) -> Bool

    /// `isWorthKeeping` tells of which results of shared work visitors make use.
    package init(isWorthKeeping: @escaping @Sendable (Result) -> Bool = { _ in true }) {
        self.isWorthKeeping = isWorthKeeping
    }

    /// Whether nobody waits, nobody visits and nothing is kept.
    package var isIdle: Bool { ledger.withLock { $0.isIdle } }

    /// All places taken, those of the oldest work first.
    package var tickets: [(Job, Ticket)] { ledger.withLock { $0.tickets } }

    /// Begins a visit, during which results of the group are kept; `end(_:)` has to follow, once.
    package func visit(_ group: Group) -> Visit {
        ledger.withLock { $0.visit(group) }
    }

    /// Ends a visit.
    package func end(_ visit: Visit) {
        ledger.withLock { $0.end(visit) }
    }

    /// Adds a caller to the work for `key`. For `.start` the caller of this starts the job, which
    /// `makeJob` has made, under the lock, of the work's number.
    package func join(
        _ caller: Caller, for key: Key, during visit: Visit? = nil, priority: Float = 0,
        makeJob: (Int) -> Job
    ) -> Join {
        let join = ledger.withLock { ledger in
            let join = ledger.join(
                caller, for: key, during: visit, priority: priority, makeJob: makeJob)
            if case .start(let job, _) = join { job.note(priority: priority) }
            if case .share(_, let ticket) = join { Self.note(ticket.work, in: ledger) }
            return join
        }
        if case .share(let job, _) = join { job.priorityChanged() }
        return join
    }

    /// Takes a caller out of its work, and stops the work after the last one.
    ///
    /// - Returns: The job and the caller; `nil` when it has left or been served before.
    @discardableResult
    package func leave(_ ticket: Ticket) -> (job: Job, caller: Caller)? {
        let leave = ledger.withLock { ledger in
            let leave = ledger.leave(ticket)
            if case .keep = leave { Self.note(ticket.work, in: ledger) }
            return leave
        }
        switch leave {
        case .none:
            return nil
        case .keep(let job, let caller):
            job.priorityChanged()
            return (job, caller)
        case .stop(let job, let caller):
            job.stop()
            return (job, caller)
        }
    }

    /// Makes a caller more or less urgent.
    package func setPriority(_ priority: Float, of ticket: Ticket) {
        let job = ledger.withLock { ledger in
            ledger.setPriority(priority, of: ticket)
            return Self.note(ticket.work, in: ledger)
        }
        job?.priorityChanged()
    }

    /// Who waits for a piece of work now, in the order they joined: to tell them of its progress.
    package func callers(of work: Int) -> [Caller] {
        ledger.withLock { $0.callers(of: work) }
    }

    /// Ends a piece of work; its result, if there is one to keep, stays for visitors.
    ///
    /// - Returns: The callers to serve, in the order they joined; none when all have left.
    package func finish(_ work: Int, keeping result: Result?) -> [Caller] {
        ledger.withLock { $0.finish(work, keeping: result) }
    }

    /// Notes the priority while the lock is held, so that of two changes the later one counts.
    @discardableResult
    private static func note(_ work: Int, in ledger: Ledger) -> Job? {
        guard let (job, priority) = ledger.urgency(of: work) else { return nil }
        job.note(priority: priority)
        return job
    }
}

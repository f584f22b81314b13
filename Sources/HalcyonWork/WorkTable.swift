import Synchronization

/// Work under way, as the table that shares it sees it.
package protocol WorkJob: Sendable {
    /// Nobody waits for it any more: to end at its next step.
    func stop()

    /// Its most urgent caller is this urgent now. Of two changes that come at the same time, in whatever
    /// order, the one with the greater number counts.
    func setPriority(_ priority: Float, change: UInt64)
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

    private struct State {
        var ledger = Ledger()
        /// How often a priority may have changed.
        var changes: UInt64 = 0

        /// What a job has to be told once the lock is released; `nil` when its work has ended.
        mutating func urgency(of work: Int) -> Urgency? {
            guard let (job, priority) = ledger.urgency(of: work) else { return nil }
            changes += 1
            return Urgency(job: job, priority: priority, change: changes)
        }
    }

    private struct Urgency {
        let job: Job
        let priority: Float
        let change: UInt64

        func tell() { job.setPriority(priority, change: change) }
    }

    private let state = Mutex(State())
    let isWorthKeeping: @Sendable (Result) -> Bool

    /// `isWorthKeeping` tells of which results of shared work visitors make use.
    package init(isWorthKeeping: @escaping @Sendable (Result) -> Bool = { _ in true }) {
        self.isWorthKeeping = isWorthKeeping
    }

    /// Whether nobody waits, nobody visits and nothing is kept.
    package var isIdle: Bool { state.withLock { $0.ledger.isIdle } }

    /// All places taken, those of the oldest work first.
    package var tickets: [(Job, Ticket)] { state.withLock { $0.ledger.tickets } }

    /// Begins a visit, during which results of the group are kept; `end(_:)` has to follow, once.
    package func visit(_ group: Group) -> Visit {
        state.withLock { $0.ledger.visit(group) }
    }

    /// Ends a visit.
    package func end(_ visit: Visit) {
        state.withLock { $0.ledger.end(visit) }
    }

    /// Adds a caller to the work for `key`. For `.start` the caller of this starts the job, which
    /// `makeJob` has made, under the lock, of the work's number.
    package func join(
        _ caller: Caller, for key: Key, during visit: Visit? = nil, priority: Float = 0,
        makeJob: (Int) -> Job
    ) -> Join {
        let (join, urgency) = state.withLock { state in
            let join = state.ledger.join(
                caller, for: key, during: visit, priority: priority, makeJob: makeJob)
            switch join {
            case .start(_, let ticket), .share(_, let ticket):
                return (join, state.urgency(of: ticket.work))
            case .done:
                return (join, nil)
            }
        }
        urgency?.tell()
        return join
    }

    /// Takes a caller out of its work, and stops the work after the last one.
    ///
    /// - Returns: The job and the caller; `nil` when it has left or been served before.
    @discardableResult
    package func leave(_ ticket: Ticket) -> (job: Job, caller: Caller)? {
        let (leave, urgency) = state.withLock { state in
            let leave = state.ledger.leave(ticket)
            if case .keep = leave { return (leave, state.urgency(of: ticket.work)) }
            return (leave, nil)
        }
        switch leave {
        case .none:
            return nil
        case .keep(let job, let caller):
            urgency?.tell()
            return (job, caller)
        case .stop(let job, let caller):
            job.stop()
            return (job, caller)
        }
    }

    /// Makes a caller more or less urgent.
    package func setPriority(_ priority: Float, of ticket: Ticket) {
        let urgency = state.withLock { state in
            state.ledger.setPriority(priority, of: ticket)
            return state.urgency(of: ticket.work)
        }
        urgency?.tell()
    }

    /// Who waits for a piece of work now, in the order they joined: to tell them of its progress.
    package func callers(of work: Int) -> [Caller] {
        state.withLock { $0.ledger.callers(of: work) }
    }

    /// Ends a piece of work; its result, if there is one to keep, stays for visitors.
    ///
    /// - Returns: The callers to serve, in the order they joined; none when all have left.
    package func finish(_ work: Int, keeping result: Result?) -> [Caller] {
        state.withLock { $0.ledger.finish(work, keeping: result) }
    }
}

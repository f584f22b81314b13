import HalcyonWork
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
    package typealias Retention = Ledger.Retention
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

    /// `isWorthKeeping` tells which results of shared work are kept at all.
    package init(isWorthKeeping: @escaping @Sendable (Result) -> Bool = { _ in true }) {
        self.isWorthKeeping = isWorthKeeping
    }

    /// Whether nobody waits and nothing is retained.
    package var isIdle: Bool { state.withLock { $0.ledger.isIdle } }

    /// All callers that wait, those of the oldest work first.
    package var tickets: [(Job, Ticket)] { state.withLock { $0.ledger.tickets } }

    /// Whether there is work for `key` that can be joined.
    package func isUnderWay(_ key: Key) -> Bool { state.withLock { $0.ledger.isUnderWay(key) } }

    /// Keeps results of the group from now on; `release(_:)` has to follow, once.
    package func retain(_ group: Group) -> Retention {
        state.withLock { $0.ledger.retain(group) }
    }

    /// Ends a retention.
    package func release(_ retention: Retention) {
        state.withLock { $0.ledger.release(retention) }
    }

    /// Adds a caller to the work for `key`. For `.start` the caller of this starts the job, which
    /// `makeJob` has made, under the lock, of the work's number.
    package func join(
        _ caller: Caller, for key: Key, during retention: Retention? = nil, priority: Float = 0,
        makeJob: (Int) -> Job
    ) -> Join {
        let (join, urgency) = state.withLock { state in
            let join = state.ledger.join(
                caller, for: key, during: retention, priority: priority, makeJob: makeJob)
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

    /// Ends a piece of work; its result, if there is one to keep, stays where it is retained.
    ///
    /// - Returns: The callers to serve, in the order they joined; none when all have left.
    package func finish(_ work: Int, keeping result: Result?) -> [Caller] {
        state.withLock { $0.ledger.finish(work, keeping: result) }
    }
}

/// The usual form of shared work: steps that look now and then whether anybody still wants them.
package typealias SharedWork<Key: Hashable & Sendable, Result: Sendable> = WorkTable<
    Key, Key, SteppedWork, WorkCaller<Result>, Result
>

/// A caller of shared work.
package struct WorkCaller<Result: Sendable>: Sendable {
    /// Whether the caller, without having left, has lost interest. `nil` for somebody who wants the
    /// result in any case.
    let isWanted: (@Sendable () -> Bool)?
    let completion: @Sendable (Result) -> Void
}

/// Work that goes on step by step as long as it is wanted.
package final class SteppedWork: WorkJob {
    private struct State {
        var isStopped = false
        var isGivenUp = false
        var onStop: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let hasInterest: @Sendable () -> Bool

    init(hasInterest: @escaping @Sendable () -> Bool) {
        self.hasInterest = hasInterest
    }

    /// Whether anybody waits for it who has not lost interest. To be asked before each step.
    package var isWanted: Bool {
        if !isStopped, hasInterest() { return true }
        state.withLock { $0.isGivenUp = true }
        return false
    }

    /// Whether it has been told that nobody wants it.
    package var isGivenUp: Bool { state.withLock { $0.isGivenUp } }

    /// Whether all who waited have left.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Runs `action` once when the last caller leaves: at once if that has happened.
    package func onStop(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isStopped { state.onStop = action }
            return state.isStopped
        }
        if isLate { action() }
    }

    package func stop() {
        let action = state.withLock { state in
            state.isStopped = true
            defer { state.onStop = nil }
            return state.onStop
        }
        action?()
    }

    package func setPriority(_ priority: Float, change: UInt64) {}
}

extension WorkTable where Job == SteppedWork, Caller == WorkCaller<Result> {
    /// Has the work for `key` done, unless it is under way or its result is kept.
    ///
    /// - Parameters:
    ///   - isWanted: Whether this caller has not lost interest; `nil` for always. Called on any thread.
    ///   - completion: Called once with the result: at once when that is kept, otherwise where the work
    ///     ended; never after `leave(_:)` has returned the caller.
    ///   - work: Begins the work, here, for the first caller; calls its second argument once.
    /// - Returns: What `leave(_:)` takes; `nil` when the result was there.
    @discardableResult
    package func ask(
        for key: Key, during retention: Retention? = nil, isWanted: (@Sendable () -> Bool)? = nil,
        completion: @escaping @Sendable (Result) -> Void,
        work: (SteppedWork, _ finish: @escaping @Sendable (Result) -> Void) -> Void
    ) -> Ticket? {
        let caller = WorkCaller(isWanted: isWanted, completion: completion)
        let join = join(caller, for: key, during: retention) { id in
            SteppedWork { [weak self] in
                self?.callers(of: id).contains { $0.isWanted?() ?? true } ?? false
            }
        }
        switch join {
        case .done(let result):
            completion(result)
            return nil
        case .share(_, let ticket):
            return ticket
        case .start(let job, let ticket):
            work(job) { result in
                for caller in self.finish(
                    ticket.work, keeping: self.isWorthKeeping(result) ? result : nil)
                {
                    caller.completion(result)
                }
            }
            return ticket
        }
    }

    /// The result of the work for `key`, waited for; see `ask`. The first caller does the work itself.
    package func result(
        for key: Key, during retention: Retention? = nil, isWanted: (@Sendable () -> Bool)? = nil,
        work: (SteppedWork) async -> Result
    ) async -> Result {
        let place = OneShot<Result>()
        var begun: (job: SteppedWork, finish: @Sendable (Result) -> Void)?
        ask(for: key, during: retention, isWanted: isWanted, completion: { place.give($0) }) {
            begun = ($0, $1)
        }
        if let begun { begun.finish(await work(begun.job)) }
        return await place.value
    }

    /// The same of work that ends with `nil` when nobody has wanted it any more: it is begun anew for
    /// those who came meanwhile.
    ///
    /// - Returns: `nil` when this caller has lost interest.
    package func wantedResult<Wanted>(
        for key: Key, during retention: Retention? = nil, isWanted: (@Sendable () -> Bool)? = nil,
        work: (SteppedWork) async -> Result
    ) async -> Wanted? where Result == Wanted? {
        while true {
            var isOwn = false
            let result = await result(for: key, during: retention, isWanted: isWanted) { job in
                isOwn = true
                return await work(job)
            }
            if let result { return result }
            // Whoever did the work has been asked by it.
            guard !isOwn, isWanted?() ?? true else { return nil }
        }
    }
}

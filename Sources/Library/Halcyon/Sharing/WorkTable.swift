import HalcyonWork
import Synchronization

package protocol WorkJob: Sendable {
    /// Stops the job at its next step, since no caller is left.
    func stop()

    /// Sets the job's priority, the highest of its callers. Concurrent calls may arrive out of
    /// order: the one with the greatest `change` counts.
    func setPriority(_ priority: Float, change: UInt64)
}

/// Work done once for all callers that want it while it is running or its result is kept.
///
/// The job is stopped when the last caller has left, and has the highest priority of its callers.
/// `WorkLedger` decides all this, including the lifetime of results; the table carries it out, with
/// its lock released.
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
        /// The number of possible priority changes.
        var changes: UInt64 = 0

        /// Returns the priority to set on a job after the lock is released; `nil` after the end of
        /// its work.
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

    /// Creates a table; `isWorthKeeping` returns whether a result of shared work may be kept.
    package init(isWorthKeeping: @escaping @Sendable (Result) -> Bool = { _ in true }) {
        self.isWorthKeeping = isWorthKeeping
    }

    package var isIdle: Bool { state.withLock { $0.ledger.isIdle } }

    package var tickets: [(Job, Ticket)] { state.withLock { $0.ledger.tickets } }

    package func isUnderWay(_ key: Key) -> Bool { state.withLock { $0.ledger.isUnderWay(key) } }

    package func retain(_ group: Group) -> Retention {
        state.withLock { $0.ledger.retain(group) }
    }

    package func release(_ retention: Retention) {
        state.withLock { $0.ledger.release(retention) }
    }

    /// Adds a caller to the work for `key`. After `.start` the caller of this method must start the
    /// job, which `makeJob` has made from the work's number, under the lock.
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

    /// Removes a caller from its work, and stops the work after the last one; `nil` if the caller has
    /// already left or been served.
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

    package func setPriority(_ priority: Float, of ticket: Ticket) {
        let urgency = state.withLock { state in
            state.ledger.setPriority(priority, of: ticket)
            return state.urgency(of: ticket.work)
        }
        urgency?.tell()
    }

    package func callers(of work: Int) -> [Caller] {
        state.withLock { $0.ledger.callers(of: work) }
    }

    package func finish(_ work: Int, keeping result: Result?) -> [Caller] {
        state.withLock { $0.ledger.finish(work, keeping: result) }
    }
}

/// The usual form of shared work: steps that check from time to time whether they are still wanted.
package typealias SharedWork<Key: Hashable & Sendable, Result: Sendable> = WorkTable<
    Key, Key, SteppedWork, WorkCaller<Result>, Result
>

package struct WorkCaller<Result: Sendable>: Sendable {
    /// Whether the caller, without having left, still wants the result. `nil` for always.
    let isWanted: (@Sendable () -> Bool)?
    let completion: @Sendable (Result) -> Void
}

/// Work that goes on step by step as long as it is wanted.
package final class SteppedWork: WorkJob {
    private let stopped = OneShot<Void>()
    private let givenUp = Atomic(false)
    private let hasInterest: @Sendable () -> Bool

    init(hasInterest: @escaping @Sendable () -> Bool) {
        self.hasInterest = hasInterest
    }

    /// Whether a waiter still wants the result. To be checked before each step.
    package var isWanted: Bool {
        if !isStopped, hasInterest() { return true }
        givenUp.store(true, ordering: .releasing)
        return false
    }

    package var isGivenUp: Bool { givenUp.load(ordering: .acquiring) }

    /// Whether all waiters have left.
    package var isStopped: Bool { stopped.isGiven }

    /// Runs `action` once when the last caller leaves; at once if that has happened.
    package func onStop(_ action: @escaping @Sendable () -> Void) {
        stopped.whenGiven { action() }
    }

    package func stop() { stopped.give(()) }

    package func setPriority(_ priority: Float, change: UInt64) {}
}

extension WorkTable where Job == SteppedWork, Caller == WorkCaller<Result> {
    /// Requests the work for `key`, which is started unless it is running or its result is kept.
    ///
    /// - Parameters:
    ///   - isWanted: Whether this caller still wants the result; `nil` for always. Called on any
    ///     thread.
    ///   - completion: Called once with the result: at once if that is kept, otherwise on the
    ///     thread where the work ended; never after `leave(_:)` has returned the caller.
    ///   - work: Starts the work, on this thread, for the first caller; calls its second argument
    ///     once.
    /// - Returns: The ticket for `leave(_:)`; `nil` if the result was kept.
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

    /// Waits for the result of the work for `key`; see `ask`. The first caller does the work
    /// itself.
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

    /// Waits for the result of work that ends with `nil` when no longer wanted, and starts it anew for
    /// callers that have joined meanwhile; `nil` if this caller no longer wants it.
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
            // The caller that did the work has already been asked by it.
            guard !isOwn, isWanted?() ?? true else { return nil }
        }
    }
}

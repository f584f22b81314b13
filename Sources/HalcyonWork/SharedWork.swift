import Synchronization

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
        for key: Key, during visit: Visit? = nil, isWanted: (@Sendable () -> Bool)? = nil,
        completion: @escaping @Sendable (Result) -> Void,
        work: (SteppedWork, _ finish: @escaping @Sendable (Result) -> Void) -> Void
    ) -> Ticket? {
        let caller = WorkCaller(isWanted: isWanted, completion: completion)
        let join = join(caller, for: key, during: visit) { id in
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
        for key: Key, during visit: Visit? = nil, isWanted: (@Sendable () -> Bool)? = nil,
        work: (SteppedWork) async -> Result
    ) async -> Result {
        let place = OneShot<Result>()
        var begun: (job: SteppedWork, finish: @Sendable (Result) -> Void)?
        ask(for: key, during: visit, isWanted: isWanted, completion: { place.give($0) }) {
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
        for key: Key, during visit: Visit? = nil, isWanted: (@Sendable () -> Bool)? = nil,
        work: (SteppedWork) async -> Result
    ) async -> Wanted? where Result == Wanted? {
        while true {
            var isOwn = false
            let result = await result(for: key, during: visit, isWanted: isWanted) { job in
                isOwn = true
                return await work(job)
            }
            if let result { return result }
            // Whoever did the work has been asked by it.
            guard !isOwn, isWanted?() ?? true else { return nil }
        }
    }
}

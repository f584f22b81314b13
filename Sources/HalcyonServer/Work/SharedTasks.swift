import Halcyon
import HalcyonServerPlans
import HalcyonWork

/// Given once when nobody waits any longer: the client has left, or its time is over.
typealias Ending = OneShot<Failure.Kind>

/// Work that is done once for all requests that want the same, and is stopped when the last of them ends.
final class SharedTasks<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, Failure>

    private let table = SharedWork<Key, Outcome>(isWorthKeeping: { _ in false })

    /// Whether there is work for `key` now.
    func isUnderWay(_ key: Key) -> Bool { table.isUnderWay(key) }

    /// Waits for the work for `key`, which the first caller begins.
    ///
    /// - Parameters:
    ///   - ending: When it is given, this caller waits no longer and gets a failure of that kind.
    ///   - onSharing: Called when somebody else has begun the work, before it is waited for.
    ///   - work: Runs in a task of its own, which is cancelled when nobody waits; its argument is given
    ///     then.
    /// - Returns: The outcome, and whether somebody else had begun the work.
    func value(
        for key: Key, until ending: Ending, onSharing: () -> Void = {},
        work: @escaping @Sendable (Ending) async -> Outcome
    ) async -> (outcome: Outcome, isShared: Bool) {
        let place = OneShot<Outcome>()
        var isOwn = false
        let ticket = table.ask(for: key, completion: { place.give($0) }) { job, finish in
            isOwn = true
            let stopped = Ending()
            let task = Task { finish(await work(stopped)) }
            job.onStop {
                stopped.give(.clientGone)
                task.cancel()
            }
        }
        if !isOwn { onSharing() }
        if let ticket {
            ending.whenGiven { [table] kind in
                guard table.leave(ticket) != nil else { return }
                place.give(.failure(Failure(kind, "nobody waits any longer")))
            }
        }
        return (await place.value, !isOwn)
    }
}

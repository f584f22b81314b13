import Halcyon
import HalcyonServerURLs
import HalcyonWork
import Synchronization

/// Given once when nobody waits any longer: the client has left, or its time is over.
typealias Ending = OneShot<Failure.Kind>

/// Work that is done once for all requests that want the same, and is stopped when the last of them ends.
final class SharedTasks<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, Failure>

    /// Work for a key, of which there is another one after each separation.
    private struct Name: Hashable, Sendable {
        let key: Key
        let number: Int
    }

    private let table = SharedWork<Name, Outcome>(isWorthKeeping: { _ in false })
    /// How often keys were separated whose work is not over yet.
    private let separations = Mutex<[Key: Int]>([:])

    /// Whether there is work for `key` now that can be joined.
    func isUnderWay(_ key: Key) -> Bool { table.isUnderWay(name(key)) }

    /// Lets those who have asked for `key` until now have what they wait for, and others begin anew.
    func separate(_ key: Key) {
        separations.withLock { separations in
            let number = separations[key] ?? 0
            if table.isUnderWay(Name(key: key, number: number)) { separations[key] = number + 1 }
        }
    }

    private func name(_ key: Key) -> Name {
        Name(key: key, number: separations.withLock { $0[key] ?? 0 })
    }

    /// Forgets separations of work that has ended.
    private func settle(_ key: Key) {
        separations.withLock { separations in
            guard let last = separations[key] else { return }
            let isOver = (0...last).allSatisfy { !table.isUnderWay(Name(key: key, number: $0)) }
            if isOver { separations[key] = nil }
        }
    }

    /// Waits for the work for `key`, which the first caller begins.
    ///
    /// - Parameters:
    ///   - ending: When it is given, this caller waits no longer.
    ///   - failure: That of a caller who waits no longer, asked for before the work is stopped.
    ///   - onSharing: Called when somebody else has begun the work, before it is waited for.
    ///   - work: Runs in a task of its own, which is cancelled when nobody waits; its argument is given
    ///     then.
    ///   - afterwards: Called in that task when nobody can join the work any longer.
    /// - Returns: The outcome, and whether somebody else had begun the work.
    func value(
        for key: Key, until ending: Ending,
        failure: @escaping @Sendable (Failure.Kind) -> Failure = {
            Failure($0, "nobody waits any longer")
        }, onSharing: () -> Void = {},
        work: @escaping @Sendable (Ending) async -> Outcome,
        afterwards: @escaping @Sendable () -> Void = {}
    ) async -> (outcome: Outcome, isShared: Bool) {
        let place = OneShot<Outcome>()
        var isOwn = false
        let ticket = table.ask(for: name(key), completion: { place.give($0) }) { job, finish in
            isOwn = true
            let stopped = Ending()
            let task = Task {
                finish(await work(stopped))
                afterwards()
                self.settle(key)
            }
            job.onStop {
                stopped.give(.clientGone)
                task.cancel()
            }
        }
        if !isOwn { onSharing() }
        if let ticket {
            ending.whenGiven { [table] kind in
                let failure = failure(kind)
                guard table.leave(ticket) != nil else { return }
                place.give(.failure(failure))
            }
        }
        return (await place.value, !isOwn)
    }
}

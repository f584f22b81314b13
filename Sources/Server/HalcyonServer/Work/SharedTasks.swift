import Halcyon
import HalcyonPixels
import HalcyonServerURLs
import HalcyonWork
import Synchronization

/// Given once when no response is awaited: the client has disconnected, or its time is over.
typealias Ending = OneShot<Failure.Kind>

/// Work that is done once for all requests for the same, and stopped when the last of them ends: a `WorkTable` whose
/// keys can be separated from the work under way.
final class SharedTasks<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, Failure>

    /// The name of the work for a key; it changes with each separation.
    private struct Name: Hashable, Sendable {
        let key: Key
        let number: Int
    }

    private let table = SharedWork<Name, Outcome>(isWorthKeeping: { _ in false })
    /// The number of separations by key, while the work is not over.
    private let separations = Mutex<[Key: Int]>([:])

    /// Whether there is work for `key` now that can be joined.
    func isUnderWay(_ key: Key) -> Bool { table.isUnderWay(name(key)) }

    /// Lets present waiters for `key` have their result, and later callers begin anew.
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
    ///   - ending: Ends the wait of this caller when given.
    ///   - failure: Returns the failure of a caller that leaves; called before the work is stopped.
    ///   - onSharing: Called when another caller has begun the work, before the wait for it.
    ///   - work: Runs in a task of its own, which is cancelled when the last waiter leaves; its
    ///     argument is given then.
    ///   - afterwards: Called in that task when the work can no longer be joined.
    /// - Returns: The outcome, and whether another caller had begun the work.
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
            // Begins on this thread: what is refused at once needs no other one.
            let task = Task.immediate {
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

/// Work on the decoding pool, by name, that stops when its last waiter leaves.
///
/// Not a `WorkTable`: ``SharedTasks`` has shared the work before, and gives `stopped`.
final class DecodingRuns: Sendable {
    private let stops = Mutex<[String: DecodingStop]>([:])

    /// Runs `work` on the pool and returns its result; decoding stops when `stopped` is given.
    ///
    /// - Parameter whenLong: Called when decoding takes long while other work waits, which may go
    ///   on in its place.
    func run<Value: Sendable>(
        _ name: String, until stopped: Ending, whenLong: (@Sendable () -> Void)? = nil,
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        let stop = DecodingStop()
        stops.withLock { $0[name] = stop }
        defer {
            stops.withLock { stops in
                // After a purge there may be other work of this name.
                if stops[name] === stop { stops[name] = nil }
            }
        }
        stopped.whenGiven { _ in stop.give() }
        return await DecodingPool.shared.run {
            LongDecoding.noting(whenLong) {
                stop.watching { () -> Result<Value, Failure> in
                    Result(catching: work).mapError { failure in
                        // Stopped work fails in some way.
                        stop.isGiven ? Failure(.clientGone, "nobody waits any longer") : failure
                    }
                }
            }
        }
    }

    /// Returns the failure for a waiter that leaves the work of this name.
    func failure(_ kind: Failure.Kind, of name: String) -> Failure {
        var failure = Failure(kind, "nobody waits any longer")
        // Of the memory that other pictures use.
        failure.lacksMemory =
            kind == .deadline && stops.withLock { $0[name] }?.waitsForMemory == true
        return failure
    }
}

import HalcyonPixels
import HalcyonWork
import Synchronization

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

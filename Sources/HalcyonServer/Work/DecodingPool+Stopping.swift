import HalcyonPixels
import HalcyonWork

extension DecodingPool {
    /// What `work` makes on one of the pool's threads; decoding in it stops when nobody waits any longer.
    static func run<Value: Sendable>(
        until stopped: Ending, _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        let stop = DecodingStop()
        stopped.whenGiven { _ in stop.give() }
        return await shared.run {
            stop.watching { () -> Result<Value, Failure> in
                do throws(Failure) {
                    return .success(try work())
                } catch {
                    // What is stopped fails in some way.
                    return .failure(
                        stop.isGiven ? Failure(.clientGone, "nobody waits any longer") : error)
                }
            }
        }
    }
}

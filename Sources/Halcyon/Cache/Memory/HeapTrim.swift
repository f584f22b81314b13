import Dispatch
import Synchronization

/// Gives the memory of images that were let go back to the system.
///
/// `free` keeps what it gets for later. That is what makes it fast, and of no use to a program that has
/// emptied its cache to be small.
enum HeapTrim {
    /// Fewer bytes are not worth it.
    static let leastCost = 8_000_000

    private static let isPlanned = Mutex(false)

    /// Does so in a second, once for all who ask meanwhile. It takes milliseconds, elsewhere.
    static func plan() {
        let wasPlanned = isPlanned.withLock { isPlanned in
            defer { isPlanned = true }
            return isPlanned
        }
        guard !wasPlanned else { return }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 1) {
            isPlanned.withLock { $0 = false }
            DecodingPool.trimMemory()
        }
    }
}

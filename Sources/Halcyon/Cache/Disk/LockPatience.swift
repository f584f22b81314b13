import Glibc
import Synchronization

/// How long the locks of others are waited for: some tenths of a second, and not at all for a while after
/// such a wait was in vain.
///
/// So whoever keeps a lock delays a load once, however many steps of it need the index.
final class LockPatience: Sendable {
    /// The longest wait.
    private static let limit = Duration.milliseconds(400)
    /// After a wait in vain.
    private static let pause = Duration.seconds(5)

    private let clock = ContinuousClock()
    /// Until when nobody waits.
    private let exhausted = Mutex<ContinuousClock.Instant?>(nil)

    /// A function that waits before the next try to get a lock, after so many (from 0) have failed, and
    /// returns `false` to give up. It blocks for ten milliseconds at most, and is for one thread at a
    /// time.
    func wait() -> @Sendable (_ failedTries: Int) -> Bool {
        let wait = Wait(patience: self)
        return { wait.goesOn(after: $0) }
    }

    private final class Wait: Sendable {
        private let patience: LockPatience
        private let start = Mutex<ContinuousClock.Instant?>(nil)

        init(patience: LockPatience) { self.patience = patience }

        func goesOn(after tries: Int) -> Bool {
            let now = patience.clock.now
            if tries == 0 {
                start.withLock { $0 = now }
                if let end = patience.exhausted.withLock({ $0 }), now < end { return false }
            } else if let start = start.withLock({ $0 }), now > start + LockPatience.limit {
                patience.exhausted.withLock { $0 = now + LockPatience.pause }
                return false
            }
            // Most locks are held for less than a millisecond.
            usleep(tries < 7 ? 100 << UInt32(tries) : 10_000)
            return true
        }
    }
}

/// Why a cache goes on without its index.
enum IndexUnavailable: Error, CustomStringConvertible {
    /// Somebody else keeps a lock.
    case locked
    /// Somebody else's database, or a folder with something in it, has the index's name.
    case occupied

    var description: String {
        switch self {
        case .locked: "another program keeps its index locked"
        case .occupied: "something else has the name of its index, \(DiskIndex.fileName)"
        }
    }
}

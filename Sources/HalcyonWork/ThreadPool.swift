import Dispatch
import Foundation
import Synchronization

/// Threads for work that blocks or keeps a core busy, so that it never holds one of Swift's cooperative
/// threads. What comes first is begun first.
package final class ThreadPool: Sendable {
    private struct Queue {
        /// What has been begun is out of it: what it owns must not go while the lock is held.
        var work: [(@Sendable () -> Void)?] = []
        /// What comes before has been begun.
        var first = 0

        mutating func take() -> (@Sendable () -> Void)? {
            let next = work[first].take()
            first += 1
            if first == work.count {
                work.removeAll(keepingCapacity: first <= 1024)
                first = 0
            } else if first > 1024, 2 * first > work.count {
                work.removeFirst(first)
                first = 0
            }
            return next
        }
    }

    private let queue = Mutex(Queue())
    /// Counts what is in the queue.
    private let available = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - name: What debuggers call the threads.
    ///   - width: How many there are, at least one. They live as long as the program.
    package init(name: String, width: Int) {
        for _ in 0..<max(1, width) {
            Thread {
                Thread.current.name = name
                self.work()
            }.start()
        }
    }

    /// Runs `body` on one of the threads some time after this returns.
    package func submit(_ body: @escaping @Sendable () -> Void) {
        queue.withLock { $0.work.append(body) }
        available.signal()
    }

    private func work() -> Never {
        while true {
            available.wait()
            queue.withLock { $0.take() }?()
        }
    }
}

import HalcyonWork

/// Threads for blocking disk work, so that it never holds one of Swift's cooperative threads.
///
/// Reading and writing have lanes of their own: a write never delays a read.
final class DiskLane: Sendable {
    /// For looking up and reading cached files.
    static let reading = DiskLane(threads: 4)
    /// For writing, removing and cleaning.
    static let writing = DiskLane(threads: 2)

    private let pool: ThreadPool

    init(threads: Int) {
        pool = ThreadPool(name: "halcyon-disk", width: threads)
    }

    /// Runs `body` on the lane and returns what it returns.
    func run<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await handedOver { hand in
            submit { hand(body()) }
        }
    }

    /// Runs `body` on the lane some time after this returns.
    func submit(_ body: @escaping @Sendable () -> Void) {
        pool.submit(body)
    }
}

import Dispatch
import Foundation
import Synchronization

/// A fixed number of threads for blocking or long-running work, which does not belong on Swift's
/// cooperative threads.
///
/// Jobs begin in the order of submission, with two exceptions. The first job that a job of this
/// pool submits runs next on the same thread, so that a continuation wakes no other thread; that
/// job's own jobs go to the end of the queue, so the queue cannot be held up. And jobs submitted
/// with `isFirst`, which release much of what others hold, go before all others.
///
/// Not a `WorkTable`: every job runs, for the one caller that submitted it.
package final class ThreadPool: Sendable {
    package typealias Job = @Sendable () -> Void

    private let lines = Mutex(Lines())
    /// Counts the queued jobs, and the threads that are to end.
    private let jobs = DispatchSemaphore(value: 0)
    private let name: String
    private let afterEachJob: (@Sendable () -> Void)?

    /// A pool of `width` threads, at least one, which live as long as the program.
    ///
    /// - Parameters:
    ///   - name: The name in debuggers; at most 15 bytes count on Linux.
    ///   - afterEachJob: Runs on the job's thread, to release the thread's resources.
    package init(
        name: String, width: Int, afterEachJob: (@Sendable () -> Void)? = nil
    ) {
        self.afterEachJob = afterEachJob
        self.name = name
        for _ in 0..<max(1, width) { startThread() }
    }

    private func startThread() {
        let thread = Thread { [self] in serve() }
        thread.name = name
        thread.start()
    }

    /// An extra thread while the calling one's job waits for long.
    package struct Loan {
        fileprivate let pool: ThreadPool

        /// Ends one thread of the pool once it is idle.
        package func end() {
            pool.lines.withLock { $0.surplus += 1 }
            pool.jobs.signal()
        }
    }

    /// Starts an extra thread while the calling one's job waits for long; `nil` on threads outside
    /// of pools. End it when the job goes on.
    package static func lendThread() -> Loan? {
        guard let pool = Worker.current?.pool else { return nil }
        pool.startThread()
        return Loan(pool: pool)
    }

    /// Runs `job` some time after returning; with `isFirst` before the queued jobs.
    package func submit(isFirst: Bool = false, _ job: @escaping Job) {
        if let worker = Worker.current, worker.pool === self, worker.takes(job) { return }
        lines.withLock { lines in
            if isFirst { lines.first.append(job) } else { lines.others.append(job) }
        }
        jobs.signal()
    }

    package func run<T: Sendable>(_ body: @escaping @Sendable () -> T) async -> T {
        await handedOver { hand in
            submit { hand(body()) }
        }
    }

    package func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await handedOver { hand in
            submit { hand(Result { try body() }) }
        }.get()
    }

    private func serve() {
        let worker = Worker(pool: self)
        Worker.current = worker
        while true {
            jobs.wait()
            guard !lines.withLock({ $0.takesSurplus() }) else { break }
            serveNext(worker)
        }
        Worker.current = nil
    }

    /// A separate function, so that nothing of a job is retained while its thread waits for the
    /// next.
    private func serveNext(_ worker: Worker) {
        guard let job = lines.withLock({ $0.first.takeFirst() ?? $0.others.takeFirst() })
        else { return }
        worker.isOpen = true
        perform(job)
        worker.isOpen = false
        if let next = worker.next.take() { perform(next) }
    }

    private func perform(_ job: Job) {
        job()
        afterEachJob?()
    }

    private struct Lines {
        var first = JobLine()
        var others = JobLine()
        var surplus = 0

        mutating func takesSurplus() -> Bool {
            guard surplus > 0 else { return false }
            surplus -= 1
            return true
        }
    }
}

/// A queue of jobs. Jobs that have begun are out of it: what they own is released by the thread
/// that runs them, not later under the lock.
private struct JobLine {
    private var jobs: [ThreadPool.Job?] = []
    /// The index of the first job that has not begun.
    private var first = 0

    mutating func append(_ job: @escaping ThreadPool.Job) {
        jobs.append(job)
    }

    mutating func takeFirst() -> ThreadPool.Job? {
        guard first < jobs.count else { return nil }
        let job = jobs[first].take()
        first += 1
        if first == jobs.count {
            jobs.removeAll(keepingCapacity: first <= 1024)
            first = 0
        } else if first > 1024, 2 * first > jobs.count {
            jobs.removeFirst(first)
            first = 0
        }
        return job
    }
}

/// The state of one thread of a pool, used by it alone.
private final class Worker {
    let pool: ThreadPool
    /// Whether the running job came from the queue, so that the thread may run its first job next.
    var isOpen = false
    var next: ThreadPool.Job?

    init(pool: ThreadPool) {
        self.pool = pool
    }

    func takes(_ job: @escaping ThreadPool.Job) -> Bool {
        guard isOpen, next == nil else { return false }
        next = job
        return true
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The worker of the calling thread; `nil` on threads outside of pools.
    static var current: Worker? {
        get {
            pthread_getspecific(key).map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
        }
        set {
            let former = pthread_getspecific(key)
            // Retained for as long as the thread runs.
            pthread_setspecific(key, newValue.map { Unmanaged.passRetained($0).toOpaque() })
            if let former { Unmanaged<Worker>.fromOpaque(former).release() }
        }
    }
}

package enum Processors {
    package static let count = max(1, ProcessInfo.processInfo.activeProcessorCount)
}

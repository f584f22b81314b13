import CCodecs
import Foundation
package import HalcyonWork
import Vips

/// The memory shared by all concurrent decoding, so that large files wait for each other instead
/// of adding up.
///
/// First come, first served. A file that needs more than the whole budget is decoded alone.
/// Threads wait before they take any lock of an image, and a thread that already holds a share,
/// because an image is made of others, takes no second one, which rules out deadlocks. A stopped
/// thread stops waiting (``DecodingStop``). Tasks do not wait: Swift has few threads for them.
///
/// Not a `WorkTable`: threads wait here for memory, not for each other's results.
package final class DecodingBudget: @unchecked Sendable {
    // Unchecked because the state is guarded by the condition's lock.

    /// A quarter of the memory that this process may use, unless a program has said otherwise.
    package static let shared = DecodingBudget(
        limit: Int(clamping: MemoryLimit().bytes / 4), least: 4 << 20)

    /// The smallest reservation that is counted, in bytes.
    private let least: Int
    private let condition = NSCondition()
    private var most: Int
    private var held = 0
    /// The turns of the waiting threads, the next one first.
    private var line: [Int] = []
    private var lastTurn = 0
    /// The number of threads in ``wait(forWaiters:)``.
    private var watcherCount = 0

    init(limit: Int, least: Int = 0) {
        most = limit
        self.least = least
    }

    /// The budget in bytes. Lowering it does not affect memory already in use.
    package var limit: Int {
        get { condition.withLock { most } }
        set {
            condition.withLock {
                most = newValue
                condition.broadcast()
            }
        }
    }

    package var heldBytes: Int { condition.withLock { held } }

    package var waitingCount: Int { condition.withLock { line.count } }

    /// Blocks until this number of threads waits.
    package func wait(forWaiters count: Int) {
        condition.withLock {
            watcherCount += 1
            while line.count != count { condition.wait() }
            watcherCount -= 1
        }
    }

    /// Runs `body`, which takes `bytes` of memory, once there is room for it.
    ///
    /// - Throws: `ImageCodingError` when the thread is stopped before, `LargeMemory.Shortage` when the process does
    ///   not get as much, or what `body` throws.
    func holding<Result>(_ bytes: Int, _ body: () throws -> Result) throws -> Result {
        guard bytes >= least, !cdecoding_thread().pointee.holds_memory else { return try body() }
        let isTask = withUnsafeCurrentTask { $0 != nil }
        let count = min(bytes, limit)
        try take(count, inTurn: !isTask)
        cdecoding_thread().pointee.holds_memory = true
        defer {
            cdecoding_thread().pointee.holds_memory = false
            release(count)
        }
        // The others may not have taken all of theirs yet.
        try LargeMemory.check(max(bytes, heldBytes))
        return try body()
    }

    /// Takes `bytes` if they are free now, and returns whether they were. ``giveBack(_:)`` returns them.
    func takeIfFree(_ bytes: Int) -> Bool {
        guard bytes >= least else { return true }
        return condition.withLock {
            guard line.isEmpty, held == 0 || held + bytes <= most else { return false }
            held += bytes
            return true
        }
    }

    func giveBack(_ bytes: Int) {
        if bytes >= least { release(bytes) }
    }

    private func release(_ bytes: Int) {
        condition.withLock {
            held -= bytes
            condition.broadcast()
        }
    }

    /// Wakes waiting threads so that they check whether to stop.
    func wake() {
        condition.withLock { condition.broadcast() }
    }

    private func take(_ bytes: Int, inTurn: Bool) throws(ImageCodingError) {
        condition.lock()
        defer { condition.unlock() }
        if inTurn { try waitForTurn(bytes) }
        held += bytes
    }

    /// Called with the lock, which it gives up while it waits.
    private func waitForTurn(_ bytes: Int) throws(ImageCodingError) {
        lastTurn += 1
        let turn = lastTurn
        let stop = cdecoding_thread().pointee.stop
        line.append(turn)
        if watcherCount > 0 { condition.broadcast() }
        defer {
            line.removeAll { $0 == turn }
            if let stop { cdecoding_set_waits_for_memory(stop, false) }
            condition.broadcast()
        }
        while line.first != turn || held > 0 && held + bytes > most {
            if cdecoding_is_late() {
                throw .processing(reason: "nobody waits any longer for it to have memory")
            }
            if let stop { cdecoding_set_waits_for_memory(stop, true) }
            condition.wait()
        }
    }
}

/// The threads on which images are decoded, processed and encoded.
package enum DecodingPool {
    /// As many threads as there are cores, so that neither Swift's cooperative threads nor the cores are
    /// overcommitted.
    package static let shared = ThreadPool(
        name: "decoding", width: Processors.count,
        afterEachJob: Vips.endJob)
}

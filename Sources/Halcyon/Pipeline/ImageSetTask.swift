import Synchronization

/// The loading of a set of images, by which the caller cancels it.
public final class ImageSetTask: Sendable {
    private struct State {
        var isCancelled = false
        var running: [Int: DownloadTask] = [:]
    }

    private let state = Mutex(State())

    init() {}

    /// Cancels all loads of the set, also those that have not begun; the completion says so. Does
    /// nothing when the set is done.
    public func cancel() {
        let running = state.withLock { state in
            state.isCancelled = true
            defer { state.running = [:] }
            return Array(state.running.values)
        }
        for task in running { task.cancel() }
    }

    /// Whether `cancel()` was called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Makes `handle` end with this task; `false` when this is cancelled already.
    func add(_ handle: DownloadTask, at index: Int) -> Bool {
        state.withLock { state in
            guard !state.isCancelled else { return false }
            state.running[index] = handle
            return true
        }
    }

    /// Forgets the load of image `index`, which is done.
    func remove(_ index: Int) {
        // Released after the lock.
        _ = state.withLock { $0.running.removeValue(forKey: index) }
    }
}

import Dispatch
import Synchronization

/// Tells a request's `onSize`, once.
final class SizeAnnouncement: Sendable {
    private let isTold = Atomic(false)
    private let queue: CallbackQueue
    private let isWanted: @Sendable () -> Bool
    private let block: @Sendable (PixelSize) -> Void

    /// - Parameters:
    ///   - queue: Where `block` is called.
    ///   - isWanted: Whether it still may be; asked there.
    init(
        _ block: @escaping @Sendable (PixelSize) -> Void, on queue: CallbackQueue,
        while isWanted: @escaping @Sendable () -> Bool = { true }
    ) {
        self.block = block
        self.queue = queue
        self.isWanted = isWanted
    }

    func tell(_ size: PixelSize) {
        guard !isTold.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.execute { [isWanted, block] in
            if isWanted() { block(size) }
        }
    }
}

/// Looks for the size of a picture in the first bytes of its download, for those callers who want to be
/// told.
///
/// The bytes are looked at again only when there are twice as many as the last time, so that all looks
/// together cost no more than two passes over them.
final class SizeWatch: Sendable {
    /// Files whose size stands behind so many bytes are told when they are there as a whole.
    private static let mostBytes = 1 << 20

    private let task: SessionDataTask
    /// The number of bytes of the next look; `.max` for none.
    private let due = Mutex(32)

    init(_ task: SessionDataTask) {
        self.task = task
    }

    /// Takes note that there are `count` bytes. Called on the network's thread, one call after the other.
    func bytesArrived(_ count: Int) {
        guard task.has(.size) else { return }
        let isDue = due.withLock { due in
            guard count >= due else { return false }
            due = count >= Self.mostBytes ? .max : 2 * count
            return true
        }
        guard isDue else { return }
        let prefix = task.data(in: 0..<Self.mostBytes)
        do {
            guard let information = try ImageInformation(ofPrefix: prefix) else { return }
            due.withLock { $0 = .max }
            task.setSize(information.size)
            for waiter in task.callers() where !waiter.handle.isCancelled {
                waiter.size?.tell(information.size)
            }
        } catch {
            // What is wrong with the file is found when it is decoded.
            due.withLock { $0 = .max }
        }
    }

    /// Begins anew, with other bytes.
    func startOver() {
        due.withLock { $0 = 32 }
    }
}

/// Tells the callers of a transfer of its progress on the main queue.
///
/// At most one report is on its way there at any time, so a fast transfer does not flood the queue;
/// that of the last byte always gets there.
final class ProgressReporter: Sendable {
    private struct State {
        var latest: Int64 = 0
        var isPending = false
        var isComplete = false
    }

    private let task: SessionDataTask
    private let state = Mutex(State())

    init(_ task: SessionDataTask) {
        self.task = task
    }

    func report(_ received: Int64, of total: Int64) {
        let mustSend = state.withLock { state in
            if received >= total {
                defer { state.isComplete = true }
                return !state.isComplete
            }
            state.latest = received
            defer { state.isPending = true }
            return !state.isPending
        }
        guard mustSend else { return }
        let waiters = task.callers().filter { $0.progress != nil }
        guard !waiters.isEmpty else { return state.withLock { $0.isPending = false } }
        DispatchQueue.main.async { [self] in
            guard let value = received >= total ? total : takeLatest() else { return }
            for waiter in waiters where !waiter.handle.isCancelled {
                waiter.progress?.block(value, total)
            }
        }
    }

    /// The newest value; `nil` when a report of the last byte is on its way.
    private func takeLatest() -> Int64? {
        state.withLock { state in
            state.isPending = false
            return state.isComplete ? nil : state.latest
        }
    }
}

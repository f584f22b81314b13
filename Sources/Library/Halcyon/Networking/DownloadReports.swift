import Dispatch
import Foundation
import HalcyonWork
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

    private enum State {
        /// To be looked at when there are so many bytes.
        case waiting(Int)
        case ended
    }

    private let transfer: Int
    private let task: SessionDataTask
    private let downloader: ImageDownloader
    private let state = Mutex(State.waiting(32))

    init(transfer: Int, task: SessionDataTask, downloader: ImageDownloader) {
        self.transfer = transfer
        self.task = task
        self.downloader = downloader
    }

    /// Takes note that there are `count` bytes. Called on the network's thread, one call after the other.
    func bytesArrived(_ count: Int) {
        guard task.has(.size) else { return }
        let isDue = state.withLock { state in
            guard case .waiting(let least) = state, count >= least else { return false }
            state = count >= Self.mostBytes ? .ended : .waiting(2 * count)
            return true
        }
        guard isDue else { return }
        let prefix = task.prefix(Self.mostBytes)
        do {
            guard let information = try ImageInformation(ofPrefix: prefix) else { return }
            state.withLock { $0 = .ended }
            task.setSize(information.size)
            for waiter in downloader.downloads.callers(of: transfer)
            where !waiter.handle.isCancelled {
                waiter.size?.tell(information.size)
            }
        } catch {
            // What is wrong with the file is found when it is decoded.
            state.withLock { $0 = .ended }
        }
    }

    /// Begins anew, with other bytes.
    func startOver() {
        state.withLock { $0 = .waiting(32) }
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

    private let transfer: Int
    private let downloader: ImageDownloader
    private let state = Mutex(State())

    init(transfer: Int, downloader: ImageDownloader) {
        self.transfer = transfer
        self.downloader = downloader
    }

    /// Reports `received` of `total` bytes.
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
        let waiters = downloader.downloads.callers(of: transfer)
            .filter { $0.progress != nil }
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

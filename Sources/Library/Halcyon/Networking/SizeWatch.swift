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

import Dispatch
import HalcyonWork
import Synchronization

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

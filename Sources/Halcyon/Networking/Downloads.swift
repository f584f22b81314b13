import Foundation

/// The running downloads of a downloader, and those still being prepared.
struct Downloads {
    typealias Table = Coalescer<DownloadIdentity, SessionDataTask, DownloadWaiter>

    typealias Settled = SettledDownloads<URL, DownloadIdentity, DownloadedData>

    var table = Table()
    /// What has been downloaded and is being made use of.
    var settled = Settled()
    /// Handles of requests whose asynchronous modifier is running, by an arbitrary number.
    var preparing: [Int: (url: URL, handle: DownloadTask)] = [:]
    private var nextPreparation = 0

    mutating func prepare(_ url: URL, _ handle: DownloadTask) -> Int {
        nextPreparation += 1
        preparing[nextPreparation] = (url, handle)
        return nextPreparation
    }

    /// Makes `task` as urgent as its callers without one who has left.
    func lowerPriority(of task: SessionDataTask, _ transfer: Int, without waiter: DownloadWaiter) {
        let priority = waiter.handle.priority
        // Mostly one of the first others is as urgent.
        guard priority >= task.priority,
            !table.waiters(of: transfer).contains(where: { $0.handle.priority == priority })
        else { return }
        updatePriority(of: task, transfer)
    }

    /// Makes `task` as urgent as its most urgent caller.
    func updatePriority(of task: SessionDataTask, _ transfer: Int) {
        let waiters = table.waiters(of: transfer)
        if let highest = waiters.lazy.map(\.handle.priority).max() {
            task.transferPriority.value = highest
        }
    }
}

/// A caller that waits for a download.
struct DownloadWaiter: Sendable {
    let handle: DownloadTask
    let limits: DecodingLimits
    /// What a request declared before it looked into the cache; `nil` for those that do not.
    let interest: Downloads.Settled.Interest?
    let progress: MainQueueProgress?
    /// Who is shown a progressive JPEG meanwhile.
    var viewer: ProgressiveViewer?
    let completion: @Sendable (Result<DownloadedData, KingfisherError>) -> Void
}

/// A progress block on its way to the main queue.
struct MainQueueProgress: @unchecked Sendable {
    // Unchecked because the block is not `Sendable`; it is only ever called on the main queue.

    let block: DownloadProgressBlock

    init?(_ block: DownloadProgressBlock?) {
        guard let block else { return nil }
        self.block = block
    }
}

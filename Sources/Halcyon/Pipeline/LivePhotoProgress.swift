import Synchronization

/// Adds up the progress of several downloads for one block.
final class LivePhotoProgress: Sendable {
    private let block: MainQueueProgress
    private let parts: Mutex<[(received: Int64, total: Int64)?]>

    /// The sum for `count` downloads.
    init?(_ block: DownloadProgressBlock?, count: Int) {
        guard let block = MainQueueProgress(block) else { return nil }
        self.block = block
        parts = Mutex(Array(repeating: nil, count: count))
    }

    /// The block for one of the downloads; to be called on the main queue.
    func part(_ index: Int) -> DownloadProgressBlock {
        { received, total in
            let sum = self.parts.withLock { parts in
                parts[index] = (received, total)
                return parts.reduce(into: (Int64(0), Int64(0))) { sum, part in
                    sum.0 += part?.received ?? 0
                    sum.1 += part?.total ?? 0
                }
            }
            self.block.block(sum.0, sum.1)
        }
    }
}

import Dispatch
import Synchronization

/// The progress of loading a set of images.
public struct ImageSetProgress: Hashable, Sendable {
    /// Images that are done, loaded or failed.
    public var completedCount = 0
    /// Images of the set.
    public var totalCount: Int
    /// Bytes that have been downloaded, of all images.
    public var receivedBytes: Int64 = 0
    /// Bytes of the downloads whose length is known so far; it grows as downloads begin.
    public var expectedBytes: Int64 = 0

    public init(
        completedCount: Int = 0, totalCount: Int, receivedBytes: Int64 = 0,
        expectedBytes: Int64 = 0
    ) {
        self.completedCount = completedCount
        self.totalCount = totalCount
        self.receivedBytes = receivedBytes
        self.expectedBytes = expectedBytes
    }
}

/// Told how far a set of images has come, on the main queue.
public typealias ImageSetProgressBlock = @Sendable (ImageSetProgress) -> Void

/// Makes one progress of those of a set's images.
///
/// It changes on the main queue only, so that reports come in order and the last one before a
/// completion that is sent there afterwards.
final class ImageSetProgressReporter: Sendable {
    private struct State {
        var progress: ImageSetProgress
        /// Received and expected bytes of each image.
        var bytes: [(received: Int64, expected: Int64)]
    }

    private let block: ImageSetProgressBlock
    private let state: Mutex<State>

    init?(count: Int, _ block: ImageSetProgressBlock?) {
        guard let block else { return nil }
        self.block = block
        state = Mutex(
            State(
                progress: ImageSetProgress(totalCount: count),
                bytes: Array(repeating: (0, 0), count: count)))
    }

    /// What image `index` reports its bytes to.
    func progress(of index: Int) -> MainQueueProgress? {
        MainQueueProgress { [self] received, expected in
            change { state in
                let former = state.bytes[index]
                state.bytes[index] = (received, expected)
                state.progress.receivedBytes += received - former.received
                state.progress.expectedBytes += expected - former.expected
            }
        }
    }

    /// Counts an image that is done.
    func complete() {
        DispatchQueue.main.async { [self] in
            change { $0.progress.completedCount += 1 }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let progress = state.withLock { state in
            body(&state)
            return state.progress
        }
        block(progress)
    }
}

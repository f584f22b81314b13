import Dispatch
import Synchronization

/// The task of loading a set of images, which can be cancelled.
public final class ImageSetTask: Sendable {
    let handle = DownloadTask()

    init() {}

    /// Cancels all loads of the set, including those not begun; the completion reports it. Has no
    /// effect after the end.
    public func cancel() { handle.cancel() }

    /// Whether `cancel()` was called.
    public var isCancelled: Bool { handle.isCancelled }
}

extension DownloadTask {
    /// Runs `work`; cancelling the surrounding task cancels this one.
    func cancelled<R>(during work: () async throws -> R) async rethrows -> R {
        try await withTaskCancellationHandler(operation: work) { cancel() }
    }

    /// Runs `work`; cancelling this task before or meanwhile cancels `other`.
    func cancelling<R>(_ other: DownloadTask, during work: () async -> R) async -> R {
        let id = onCancel { other.cancel() }
        defer { removeCancelAction(id) }
        return await work()
    }
}

/// Loads a set of images, a few at a time. Not a `WorkTable`: equal images are shared by their requests.
struct ImageSetLoad: Sendable {
    struct Item: Sendable {
        let source: Source
        let options: KingfisherParsedOptionsInfo
    }

    typealias Outcome = Result<RetrieveImageResult, KingfisherError>

    let items: [Item]
    let limit: Int
    let stopsAtFailure: Bool
    let task = ImageSetTask()
    private let queue: CallbackQueue
    private let progress: ImageSetProgressReporter?
    private let events: EventHub

    /// - Parameter queue: The queue of a handler that is given to `begin`.
    init(
        _ items: [Item], limit: Int, stopsAtFailure: Bool, queue: CallbackQueue,
        progress: ImageSetProgressBlock?, events: EventHub
    ) {
        self.items = items
        self.limit = max(1, limit)
        self.stopsAtFailure = stopsAtFailure
        self.queue = queue
        self.progress = ImageSetProgressReporter(count: items.count, progress)
        self.events = events
    }

    /// Begins `work`, which runs this load, for a caller with a handler; see `CallbackQueue.deliver`.
    func begin<R: Sendable>(
        for handler: @escaping @Sendable (R) -> Void,
        atOnceIf isImmediate: @escaping @Sendable (R) -> Bool = { _ in false },
        work: @escaping @Sendable () async -> R
    ) -> ImageSetTask {
        queue.deliver(to: handler, atOnceIf: isImmediate) { hand in
            Task.immediate { hand(await work()) }
        }
        return task
    }

    /// Loads the set; returns the outcome of each image, in the order of the set, and the first
    /// failure.
    func run() async -> (outcomes: [Outcome], firstFailure: KingfisherError?) {
        var outcomes = [Outcome?](repeating: nil, count: items.count)
        var firstFailure: KingfisherError?
        await withTaskGroup(of: (Int, Outcome).self) { group in
            var next = 0
            func begin() {
                guard next < items.count else { return }
                let index = next
                next += 1
                // Images in memory are ready at once, and downloads begin before the first wait.
                group.addImmediateTask { (index, await load(index)) }
            }
            for _ in 0..<limit { begin() }
            while let (index, outcome) = await group.next() {
                outcomes[index] = outcome
                progress?.complete()
                if case .failure(let error) = outcome {
                    firstFailure = firstFailure ?? error
                    if stopsAtFailure { task.cancel() }
                }
                begin()
            }
        }
        return (outcomes.compactMap { $0 }, firstFailure)
    }

    func images() async -> Result<[RetrieveImageResult], KingfisherError> {
        let (outcomes, firstFailure) = await run()
        if let firstFailure { return .failure(firstFailure) }
        return .success(outcomes.compactMap { try? $0.get() })
    }

    private func load(_ index: Int) async -> Outcome {
        let item = items[index]
        let request = ImageRequest(
            source: item.source, options: item.options, progress: progress?.progress(of: index),
            probing: .onItsOwnThread
        ).followed(by: events)
        if task.isCancelled { return .failure(.requestError(reason: .asyncTaskContextCancelled)) }
        return await task.handle.cancelling(request.handle) { await request.run() }
    }
}

/// The progress of loading a set of images.
public struct ImageSetProgress: Hashable, Sendable {
    /// The number of images that have ended, loaded or failed.
    public var completedCount = 0
    /// The number of images in the set.
    public var totalCount: Int
    /// The number of bytes downloaded for all images.
    public var receivedBytes: Int64 = 0
    /// The total length of the downloads, as far as known; it grows as downloads begin.
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

/// Called with the progress of a set of images, on the main queue.
public typealias ImageSetProgressBlock = @Sendable (ImageSetProgress) -> Void

/// Combines the progress of a set's images.
///
/// It changes on the main queue only, so that reports arrive in order, and the last one before a
/// completion sent there afterwards.
final class ImageSetProgressReporter: Sendable {
    private struct State {
        var progress: ImageSetProgress
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

import Foundation
import HalcyonWork
import Synchronization

/// One request from look-up to delivery.
///
/// `image()` reads as the diagram: memory → disk → original → load → process → store → deliver.
struct ImageRequest: Sendable {
    /// Where the question whether the disk cache holds an image is answered.
    enum Probing: Sendable {
        /// At once, so that a download has begun when the call returns.
        case onCallingThread
        /// On the disk's own threads.
        case onItsOwnThread
    }

    /// Counts requests: of two that write one file, that of the later one stays.
    let number: UInt64
    /// What was asked for.
    let originalSource: Source
    /// What this attempt loads.
    var source: Source
    var options: KingfisherParsedOptionsInfo
    /// Linked to whatever can be cancelled; remembers a cancellation that comes first.
    var handle: DownloadTask
    let progress: MainQueueProgress?
    let taskUpdated: DownloadTaskUpdatedBlock?
    let probing: Probing
    /// Whether anybody still waits for this request; checked before and after work on the disk.
    let isCurrent: (@Sendable () -> Bool)?
    /// Shows what a progressive JPEG looks like so far; without it the option `progressiveJPEG` does
    /// nothing.
    let progressiveConsumer: ProgressiveConsumer?
    /// Whether this attempt takes the place of one that failed, so that its task has to be announced.
    var isReplacement = false
    /// Whether the bytes go to the disk as they come and nobody needs pixels: of the delivered image
    /// only the header has been read. The processor must be the default one.
    var storesBytesOnly = false
    /// What the image of `source` is cached under, where that has been made already.
    var imageKey: ImageKey?

    init(
        source: Source, options: KingfisherParsedOptionsInfo, progress: MainQueueProgress? = nil,
        taskUpdated: DownloadTaskUpdatedBlock? = nil, probing: Probing,
        isCurrent: (@Sendable () -> Bool)? = nil, progressiveConsumer: ProgressiveConsumer? = nil
    ) {
        number = Self.count.add(1, ordering: .relaxed).newValue
        originalSource = source
        self.source = source
        self.options = options
        handle = DownloadTask()
        self.progress = progress
        self.taskUpdated = taskUpdated
        self.probing = probing
        self.isCurrent = isCurrent
        self.progressiveConsumer = progressiveConsumer
    }

    private static let count = Atomic<UInt64>(0)

    var key: String { source.cacheKey }
    var targetCache: ImageCache { options.targetCache ?? .default }
    var originalCache: ImageCache { options.originalCache ?? targetCache }
    var hasProcessor: Bool { !options.processor.identifier.isEmpty }

    /// One attempt, from the memory to the delivery.
    func image() async throws(KingfisherError) -> RetrieveImageResult {
        if let hit = await memoryHit() { return hit }
        let key = imageKey ?? ImageKey(self.key, options)
        // Begun before the caches are asked, so that no image slips through between work that ends and
        // a cache that has just been asked.
        let visit = beginVisit()
        defer { visit.end() }

        var foundTrace = false
        if !options.forceRefresh {
            var cached = try await cachedTarget(key, &foundTrace)
            if cached == nil { cached = try await madeOfOriginal(key, visit, &foundTrace) }
            if let result = cached {
                if isReplacement { taskUpdated?(nil) }
                return result
            }
            try checkStillWanted()
            if options.onlyFromCache {
                throw .cacheError(reason: .imageNotExisting(key: self.key))
            }
        }
        // A caller who was told that the image is cached holds no task.
        let loaded = try await load(key, during: visit, announcing: isReplacement || foundTrace)
        if !storesBytesOnly {
            if handle.isCancelled { throw cancellation }
            await store(loaded.image, of: loaded.material, original: loaded.bytes, for: key)
        }
        let bytes = loaded.bytes
        return deliver(loaded.image, cacheType: .none, metrics: loaded.metrics) { bytes }
    }

    /// Ends a request that was cancelled, or superseded, while it looked into the caches.
    private func checkStillWanted() throws(KingfisherError) {
        if let isCurrent, !isCurrent() {
            throw .cacheError(reason: .imageNotExisting(key: key))
        }
        if handle.isCancelled { throw cancellation }
    }

    /// The error of a cancelled attempt.
    var cancellation: KingfisherError {
        switch source {
        case .network:
            if let task = handle.sessionTask, let token = handle.cancelToken {
                .requestError(reason: .taskCancelled(task: task, token: token))
            } else {
                .requestError(reason: .asyncTaskContextCancelled)
            }
        case .provider(let provider):
            .requestError(reason: .dataProviderCancelled(provider: provider))
        }
    }

    /// The result that delivers `image`, with the image modifier applied.
    func deliver(
        _ image: Image, cacheType: CacheType, metrics: NetworkMetrics? = nil,
        data: @escaping @Sendable () -> Data?
    ) -> RetrieveImageResult {
        RetrieveImageResult(
            image: options.imageModifier?.modify(image) ?? image, cacheType: cacheType,
            source: source, originalSource: originalSource, data: data, metrics: metrics)
    }

    /// The result that delivers an image of which only the decoded form is known.
    func deliverSerializing(_ image: Image, cacheType: CacheType) -> RetrieveImageResult {
        let serializer = options.cacheSerializer
        return deliver(image, cacheType: cacheType) { serializer.data(with: image, original: nil) }
    }
}

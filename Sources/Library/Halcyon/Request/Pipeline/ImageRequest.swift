import Foundation
import HalcyonWork
import Synchronization

/// A request from lookup to delivery.
///
/// `image()` reads as the diagram: memory → disk → original → load → process → store → deliver.
struct ImageRequest: Sendable {
    enum Probing: Sendable {
        /// The calling thread, so that a download has begun when the call returns.
        case onCallingThread
        case onItsOwnThread
    }

    enum Goal: Sendable {
        case image
        /// The bytes on disk, without pixels: a delivered image has only its header read, and one
        /// already on disk not even that. The processor must be the default one.
        case bytesOnDisk
        /// The bytes on disk of a file that need not be an image; its processor only names it.
        case file
    }

    enum Purpose: Sendable {
        case delivery
        /// No caller waits for the image, so the end of a server's pause is awaited.
        case prefetch
        /// Revalidation of an image that has been delivered stale.
        case revalidation
    }

    /// The number of the request: of two that write one file, the later one's content stays.
    var number: UInt64
    let originalSource: Source
    var source: Source
    var options: KingfisherParsedOptionsInfo
    /// Linked to all work that can be cancelled; remembers an earlier cancellation.
    var handle: DownloadTask
    let progress: MainQueueProgress?
    let taskUpdated: DownloadTaskUpdatedBlock?
    let probing: Probing
    /// Whether the request is still wanted; checked before and after work on the disk.
    let isCurrent: (@Sendable () -> Bool)?
    /// Shows the current state of a progressive JPEG; without it the option `progressiveJPEG` has
    /// no effect.
    let progressiveConsumer: ProgressiveConsumer?
    /// Whether this is an attempt after a failed one; its task must be announced.
    var isReplacement = false
    var goal = Goal.image
    var purpose = Purpose.delivery
    /// Called, in place of the options' `onHTTPRevalidation`, with the result of a revalidation in
    /// the background; `nil` if there was none.
    var onRevalidated: (@Sendable (HTTPRevalidation?) -> Void)?
    /// The cache key of `source`, if it has already been made.
    var imageKey: ImageKey?

    init(
        source: Source, options: KingfisherParsedOptionsInfo, progress: MainQueueProgress? = nil,
        taskUpdated: DownloadTaskUpdatedBlock? = nil, probing: Probing,
        isCurrent: (@Sendable () -> Bool)? = nil, progressiveConsumer: ProgressiveConsumer? = nil
    ) {
        number = Self.count.add(1, ordering: .relaxed).newValue
        originalSource = source
        self.source = source.pinned
        self.options = options
        handle = DownloadTask()
        self.progress = progress
        self.taskUpdated = taskUpdated
        self.probing = probing
        self.isCurrent = isCurrent
        self.progressiveConsumer = progressiveConsumer
    }

    private static let count = Atomic<UInt64>(0)

    var key: String { options.cacheKey(of: source) }
    var targetCache: ImageCache { options.targetCache ?? .default }
    var originalCache: ImageCache { options.originalCache ?? targetCache }
    var downloader: ImageDownloader { options.downloader ?? .default }
    var caches: [ImageCache] {
        targetCache === originalCache ? [targetCache] : [targetCache, originalCache]
    }
    /// Whether no work has begun when the call for the image returns.
    var preparesLater: Bool {
        options.requestModifier.map { !($0 is any ImageDownloadRequestModifier) } ?? false
            || caches.contains { $0.shared != nil }
    }
    var hasProcessor: Bool { !options.processor.identifier.isEmpty }
    var storesBytesOnly: Bool { goal != .image }

    /// Makes one attempt, from the memory lookup to the delivery.
    func image() async throws(KingfisherError) -> RetrieveImageResult {
        if let image = freshInMemory { return await deliverFromMemory(image, .fresh) }
        if followsHTTPCaching { return try await freshImage() }
        guard let found = inMemory else { return try await cachedOrLoaded() }
        guard let image = asWanted(found) else { return try await cachedOrLoaded(not: found) }
        return await deliverFromMemory(image, nil)
    }

    /// Makes one attempt after a miss in memory. `other` is the target cache's image if it was made with
    /// other options: it is delivered only if loading is not allowed.
    private func cachedOrLoaded(
        not other: Image? = nil
    ) async throws(KingfisherError) -> RetrieveImageResult {
        let key = imageKey ?? ImageKey(self.key, options)
        // Taken before the cache lookups, so that no image is missed between work that ends and a
        // cache that has just been read.
        let retention = retain()
        defer { retention.release() }

        var foundTrace = false
        if !options.forceRefresh {
            var cached: RetrieveImageResult?
            if other == nil, await mayHold(targetCache, key, &foundTrace),
                let found = try await found(key), let image = found.image
            {
                options.events?.note(.found(found.cacheType))
                cached = await deliverCached(
                    image, from: found.cacheType, isImmediate: isImmediate(found.cacheType))
            }
            if cached == nil, mayHaveOriginal,
                await mayHold(originalCache, originalKey, &foundTrace)
            {
                cached = try await made(of: nil, key, retention)
            }
            if let result = cached {
                if isReplacement { taskUpdated?(nil) }
                return result
            }
            try checkStillWanted()
            if options.onlyFromCache {
                if let other { return await deliverFromMemory(other, nil) }
                throw .cacheError(reason: .imageNotExisting(key: self.key))
            }
        }
        // A caller that was told of a cached image has no task.
        let (image, loaded) = try await load(
            key, during: retention, announcing: isReplacement || foundTrace)
        if !storesBytesOnly {
            if handle.isCancelled { throw cancellation }
            await store(image, of: loaded.material, original: loaded.data, for: key)
        }
        let bytes = loaded.data
        return deliver(image, cacheType: .none, metrics: loaded.metrics) { bytes }
    }

    /// Throws if the request was cancelled or superseded during the cache lookups.
    func checkStillWanted() throws(KingfisherError) {
        if let isCurrent, !isCurrent() {
            throw .cacheError(reason: .imageNotExisting(key: key))
        }
        if handle.isCancelled { throw cancellation }
    }

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

    /// Returns the result for `image`, with the image modifier applied.
    func deliver(
        _ image: Image, cacheType: CacheType, metrics: NetworkMetrics? = nil,
        data: @escaping @Sendable () -> Data?
    ) -> RetrieveImageResult {
        RetrieveImageResult(
            image: options.imageModifier?.modify(image) ?? image, cacheType: cacheType,
            source: source, originalSource: originalSource, data: data, metrics: metrics)
    }

    /// A stand-in for a file without decoded pixels.
    static let unread = Image(
        bitmap: Bitmap(pixels: Data(count: 4), size: PixelSize(width: 1, height: 1))!)

    /// The result for a file on disk that is not read.
    var unreadResult: RetrieveImageResult {
        deliver(Self.unread, cacheType: .disk) { nil }
    }

    /// Returns the result for an image without its original bytes.
    func deliverSerializing(_ image: Image, cacheType: CacheType) -> RetrieveImageResult {
        let serializer = options.cacheSerializer
        return deliver(image, cacheType: cacheType) { serializer.data(with: image, original: nil) }
    }
}

extension ImageRequest {
    /// Adapts `image`, found in memory, to this request: the scale and the first-frame option of
    /// other requests do not apply to it. `nil` if it must be made anew.
    func asWanted(_ image: Image) -> Image? {
        let hasScale = image.creatingOptions.scale == options.scaleFactor
        let hasFrames = image.hasFrames(of: options)
        if hasScale && hasFrames || bytesToRebuild(image) != nil || isOfProgram { return image }
        guard hasScale || !hasProcessor || targetCache.isSubclass else { return nil }
        let scaled = hasScale || hasProcessor ? image : image.withScale(options.scaleFactor)
        if hasFrames { return scaled }
        // A frame with its pixels in memory cannot fail.
        return options.onlyLoadFirstFrame ? try? scaled.firstFrame() : nil
    }

    /// Whether the image in memory was stored by the program itself; it is delivered unchanged.
    private var isOfProgram: Bool {
        targetCache.originatedImage(forKey: key, options: options)?.1 === ImageOrigin.program
    }

    /// The final image, if the target cache has it in memory. A subclass is read through the
    /// methods that it may override, as for the disk.
    private var inMemory: Image? {
        guard !options.forceRefresh, !isReplacement, !targetCache.isSubclass else { return nil }
        return targetCache.retrieveImageInMemoryCache(forKey: key, options: options)
    }

    func deliverFromMemory(
        _ image: Image, _ use: HTTPCacheUse?, isImmediate: Bool = true
    ) async -> RetrieveImageResult {
        options.events?.note(.found(.memory))
        var result = await deliverCached(image, from: .memory, isImmediate: isImmediate)
        result.httpCacheUse = use
        return result
    }

    /// Returns the result for a cached image, which is made again if it was decoded with other options.
    /// With `isImmediate` there has been no wait so far.
    func deliverCached(
        _ image: Image, from type: CacheType, isImmediate: Bool = false
    ) async -> RetrieveImageResult {
        guard let bytes = bytesToRebuild(image) else {
            var result = deliverSerializing(image, cacheType: type)
            result.isImmediate = isImmediate
            return result
        }
        // A cached image that cannot be made again is better than none.
        let rebuilt = try? await ImageProcessItem.data(bytes).processed(options)
        return deliverSerializing(rebuilt ?? image, cacheType: type)
    }

    /// Whether the target cache's image was found without a wait: in the memory of a subclass, or
    /// on the disk if that was read on the calling thread.
    private func isImmediate(_ type: CacheType) -> Bool {
        guard probing == .onCallingThread, !isReplacement, targetCache.shared == nil else {
            return false
        }
        return options.loadDiskFileSynchronously || type == .memory && targetCache.isSubclass
    }

    /// Looks an image up in the target cache; with `origin`, the file is known to be of it.
    func found(
        _ key: ImageKey, of origin: ImageOrigin? = nil
    ) async throws(KingfisherError) -> ImageCacheResult? {
        try await unlessFailing { () throws(KingfisherError) in
            try await found(key, of: origin, isCurrent: isWanted)
        }
    }

    func found(
        _ key: ImageKey, of origin: ImageOrigin? = nil, isCurrent: @escaping @Sendable () -> Bool
    ) async throws(KingfisherError) -> ImageCacheResult {
        targetCache.isSubclass
            ? try await targetCache.overriddenLookup(key, options: options, isCurrent: isCurrent)
            : try await targetCache.lookup(
                key, options: options, isCurrent: isCurrent, origin: origin, accepting: asWanted)
    }

    /// Makes the final image from the cached original: with `origin`, only from one of that response, or
    /// one stored by the program.
    func made(
        of origin: ImageOrigin?, _ key: ImageKey, _ retention: Retention
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        let plain = retention.original?.options ?? originalOptions
        let originalKey = originalKey
        let material = try await unlessFailing { () throws(KingfisherError) in
            try await originalCache.original(
                originalKey, options: plain, during: retention.original, isCurrent: isWanted,
                origin: origin)
        }
        guard let material else { return nil }
        options.events?.note(.foundOriginal)
        let made = await handedOver { hand in
            material.makeImage(options, for: handle, completion: hand)
        }
        switch made {
        case nil:
            throw cancellation
        case .failure(.unprocessed):
            throw .unprocessed(material.item, by: options.processor)
        case .failure(.undecodable):
            if let file = material.file {
                await originalCache.removeFile(of: originalKey, ifHolding: file)
            }
            return nil
        case .success(let image):
            if handle.isCancelled { throw cancellation }
            if !hasProcessor, !originalCache.isSubclass {
                originalCache.storeInMemory(
                    image, for: originalKey, options: plain, origin: origin)
            }
            await store(
                image, of: material, original: nil, for: key,
                stated: origin.map { StatedOrigin($0) })
            return deliverSerializing(image, cacheType: .none)
        }
    }

    /// Whether a cached original would differ from the final image.
    var mayHaveOriginal: Bool {
        !options.forceRefresh && goal != .file
            && (originalCache !== targetCache || hasProcessor)
    }

    var originalKey: ImageKey { ImageKey(key, forcedExtension: options.forcedExtension) }

    var originalOptions: KingfisherParsedOptionsInfo {
        var plain = options
        plain.processor = DefaultImageProcessor.default
        return plain
    }

    /// Whether the request has neither been cancelled nor superseded.
    var isWanted: @Sendable () -> Bool {
        { [isCurrent, handle] in (isCurrent?() ?? true) && !handle.isCancelled }
    }

    /// Reads the disk. An error, which is logged, does not fail a request that may load.
    private func unlessFailing<Found>(
        _ read: () async throws(KingfisherError) -> Found?
    ) async throws(KingfisherError) -> Found? {
        do throws(KingfisherError) {
            return try await read()
        } catch {
            if options.onlyFromCache { throw error }
            HalcyonLog.warn(of: error)
            return nil
        }
    }

    /// Whether `cache` is worth reading. It is probed when probing on the calling thread, or if a
    /// subclass may know better than the files; `foundTrace` is set if it seems to contain the image.
    /// A prefetcher has already probed.
    private func mayHold(
        _ cache: ImageCache, _ key: ImageKey, _ foundTrace: inout Bool
    ) async -> Bool {
        guard probing == .onCallingThread || cache.isSubclass && purpose != .prefetch else {
            return true
        }
        if cache.shared != nil, !options.fromMemoryCacheOrRefresh {
            // Another machine may have stored it.
            foundTrace = true
            return true
        }
        let type = await cache.cachedType(key, onCallingThread: probing == .onCallingThread)
        let holds = options.fromMemoryCacheOrRefresh ? type == .memory : type.cached
        foundTrace = foundTrace || holds
        return holds
    }

    /// Returns the bytes of an animation that was decoded with other options (first frame only, for
    /// example) and must be made again; `nil` for an image that needs no change.
    private func bytesToRebuild(_ image: Image) -> Data? {
        guard let animated = image.animatedSource, animated.frameCount > 1,
            image.creatingOptions.withoutLimits != options.imageCreatingOptions.withoutLimits
        else { return nil }
        return animated.data
    }
}

/// The cache key of an image, made once for each request that misses in memory.
///
/// An object, like `LookupKey`, since a request passes it on a dozen times: a copy costs only a
/// reference count.
final class ImageKey: Hashable, Sendable {
    let source: String
    /// The processor's identifier; empty for the original.
    let processor: String
    let forcedExtension: String?
    /// Source key and processor identifier as one text, in the form of the public API.
    let text: String
    private let name = Mutex<String?>(nil)

    init(_ source: String, processor: String = "", forcedExtension: String? = nil) {
        self.source = source
        self.processor = processor
        self.forcedExtension = forcedExtension
        text = source.computedKey(with: processor)
    }

    convenience init(_ source: String, _ options: KingfisherParsedOptionsInfo) {
        self.init(
            source, processor: options.processor.identifier,
            forcedExtension: options.forcedExtension)
    }

    /// Its variant in the index; `nil` for the original.
    var variant: FileVariant? {
        processor.isEmpty ? nil : FileVariant(source: source, processor: processor)
    }

    /// Returns the name of the file in `cache`; its digest is computed on first use.
    func fileName(in cache: ImageCache) -> String {
        if let name = name.withLock({ $0 }) { return name }
        let made = cache.diskStorage.cacheFileName(
            forKey: text, forcedExtension: forcedExtension)
        name.withLock { $0 = made }
        return made
    }

    static func == (left: ImageKey, right: ImageKey) -> Bool {
        left === right
            || left.text == right.text && left.processor == right.processor
                && left.forcedExtension == right.forcedExtension
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }
}

extension String {
    /// The key under which a processor's result for this key is cached.
    func computedKey(with processorIdentifier: String) -> String {
        processorIdentifier.isEmpty ? self : "\(self)@\(processorIdentifier)"
    }
}

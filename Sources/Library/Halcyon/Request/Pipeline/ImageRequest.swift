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

    /// What is asked for.
    enum Goal: Sendable {
        case image
        /// That the bytes go to the disk as they come, and nobody needs pixels: of the delivered image only
        /// the header has been read, and of one that is on the disk not even that. The processor must be
        /// the default one.
        case bytesOnDisk
        /// The same of a file that need not be an image; its processor only names it.
        case file
    }

    /// The reason for the request.
    enum Purpose: Sendable {
        /// Somebody waits for the image.
        case delivery
        /// Nobody waits for the image now, so that a server that wants to be left alone is waited for.
        case prefetch
        /// The server is asked about an image that has been delivered stale.
        case revalidation
    }

    /// Which attempt at the request this is.
    enum Attempt: Sendable {
        case first
        /// One that takes the place of a failed one, so that its task has to be announced.
        case replacement
    }

    /// Counts requests: of two that write one file, that of the later one stays.
    var number: UInt64
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
    var attempt = Attempt.first
    var goal = Goal.image
    var purpose = Purpose.delivery
    /// Told, instead of the options' `onHTTPRevalidation`, what asking the server in the background has
    /// found; `nil` when it was not asked.
    var onRevalidated: (@Sendable (HTTPRevalidation?) -> Void)?
    /// What the image of `source` is cached under, where that has been made already.
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
    /// All caches that the image, or what it is made of, may be in.
    var caches: [ImageCache] {
        targetCache === originalCache ? [targetCache] : [targetCache, originalCache]
    }
    /// Whether nothing has begun when the call that asks for the image returns.
    var preparesLater: Bool {
        options.requestModifier.map { !($0 is any ImageDownloadRequestModifier) } ?? false
            || caches.contains { $0.shared != nil }
    }
    var hasProcessor: Bool { !options.processor.identifier.isEmpty }
    var storesBytesOnly: Bool { goal != .image }

    /// One attempt, from the memory to the delivery.
    func image() async throws(KingfisherError) -> RetrieveImageResult {
        if let image = freshInMemory { return await deliverFromMemory(image, .fresh) }
        if followsHTTPCaching { return try await freshImage() }
        guard let found = inMemory else { return try await cachedOrLoaded() }
        guard let image = asWanted(found) else { return try await cachedOrLoaded(not: found) }
        return await deliverFromMemory(image, nil)
    }

    /// The same of what is not in memory.
    ///
    /// - Parameter other: What the target cache has, if that was made with other options: it is delivered
    ///   only if nothing may be loaded.
    private func cachedOrLoaded(
        not other: Image? = nil
    ) async throws(KingfisherError) -> RetrieveImageResult {
        let key = imageKey ?? ImageKey(self.key, options)
        // Begun before the caches are asked, so that no image slips through between work that ends and
        // a cache that has just been asked.
        let retention = retain()
        defer { retention.release() }

        var foundTrace = false
        if !options.forceRefresh {
            var cached = other == nil ? try await cachedTarget(key, &foundTrace) : nil
            if cached == nil { cached = try await madeOfOriginal(key, retention, &foundTrace) }
            if let result = cached {
                if attempt == .replacement { taskUpdated?(nil) }
                return result
            }
            try checkStillWanted()
            if options.onlyFromCache {
                if let other { return await deliverFromMemory(other, nil) }
                throw .cacheError(reason: .imageNotExisting(key: self.key))
            }
        }
        // A caller who was told that the image is cached holds no task.
        let (image, loaded) = try await load(
            key, during: retention, announcing: attempt == .replacement || foundTrace)
        if !storesBytesOnly {
            if handle.isCancelled { throw cancellation }
            await store(image, of: loaded.material, original: loaded.data, for: key)
        }
        let bytes = loaded.data
        return deliver(image, cacheType: .none, metrics: loaded.metrics) { bytes }
    }

    /// Ends a request that was cancelled, or superseded, while it looked into the caches.
    func checkStillWanted() throws(KingfisherError) {
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

    /// Stands for a file whose pixels nobody needs.
    static let unread = Image(
        bitmap: Bitmap(pixels: Data(count: 4), size: PixelSize(width: 1, height: 1))!)

    /// The result that delivers a file on the disk that nobody wants to be read.
    var unreadResult: RetrieveImageResult {
        deliver(Self.unread, cacheType: .disk) { nil }
    }

    /// The result that delivers an image of which only the decoded form is known.
    func deliverSerializing(_ image: Image, cacheType: CacheType) -> RetrieveImageResult {
        let serializer = options.cacheSerializer
        return deliver(image, cacheType: cacheType) { serializer.data(with: image, original: nil) }
    }
}

extension ImageRequest {
    /// `image`, which was found in memory, as this request would have made it: what other requests were asked
    /// for, its scale and the first frame alone, is no business of this one. `nil` when it has to be made anew.
    func asWanted(_ image: Image) -> Image? {
        let hasScale = image.creatingOptions.scale == options.scaleFactor
        let hasFrames = image.hasFrames(of: options)
        if hasScale && hasFrames || bytesToRebuild(image) != nil || isOfProgram { return image }
        guard hasScale || !hasProcessor || targetCache.isSubclass else { return nil }
        let scaled = hasScale || hasProcessor ? image : image.withScale(options.scaleFactor)
        if hasFrames { return scaled }
        // The pixels of a frame in memory cannot fail.
        return options.onlyLoadFirstFrame ? try? scaled.firstFrame() : nil
    }

    /// Whether the program itself has stored what is in memory, which is delivered as it is.
    private var isOfProgram: Bool {
        targetCache.originatedImage(forKey: key, options: options)?.1 === ImageOrigin.program
    }

    /// The final image, if the target cache has it in memory. A subclass is asked by the methods that it
    /// may override, as for what is on disk.
    private var inMemory: Image? {
        guard !options.forceRefresh, attempt == .first, !targetCache.isSubclass else { return nil }
        return targetCache.retrieveImageInMemoryCache(forKey: key, options: options)
    }

    private func deliverFromMemory(
        _ image: Image, _ use: HTTPCacheUse?
    ) async -> RetrieveImageResult {
        options.events?.note(.found(.memory))
        var result = await deliverCached(image, from: .memory, isImmediate: true)
        result.httpCacheUse = use
        return result
    }

    /// The result that delivers a cached image, made again if it was decoded with other options.
    ///
    /// - Parameter isImmediate: Whether nothing had to be waited for until now.
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

    /// The final image, from the target cache. `foundTrace` becomes true when the cache seemed to
    /// hold it.
    func cachedTarget(_ key: ImageKey, _ foundTrace: inout Bool) async throws(KingfisherError)
        -> RetrieveImageResult?
    {
        if isAskedBefore(targetCache),
            await !mayHold(targetCache, options: options, foundTrace: &foundTrace)
        {
            return nil
        }
        let found: ImageCacheResult
        do throws(KingfisherError) {
            found = try await self.found(key, isCurrent: isWanted)
        } catch {
            return try passOver(error)
        }
        guard let image = found.image else { return nil }
        options.events?.note(.found(found.cacheType))
        return await deliverCached(
            image, from: found.cacheType, isImmediate: isImmediate(found.cacheType))
    }

    /// Whether what the target cache has found was found without a wait: in the memory of a subclass, or on
    /// the disk, which was read on the calling thread.
    private func isImmediate(_ type: CacheType) -> Bool {
        guard probing == .onCallingThread, attempt == .first, targetCache.shared == nil else {
            return false
        }
        return options.loadDiskFileSynchronously || type == .memory && targetCache.isSubclass
    }

    /// What the target cache says.
    func found(_ key: ImageKey, isCurrent: @escaping @Sendable () -> Bool)
        async throws(KingfisherError) -> ImageCacheResult
    {
        targetCache.isSubclass
            ? try await targetCache.overriddenLookup(key, options: options, isCurrent: isCurrent)
            : try await targetCache.lookup(
                key, options: options, isCurrent: isCurrent, accepting: asWanted)
    }

    /// The final image, made of the cached original.
    ///
    /// With `origin`, only of one that was made of that response, or that the program has stored.
    func madeOfOriginal(
        _ key: ImageKey, _ retention: Retention, _ foundTrace: inout Bool,
        of origin: ImageOrigin? = nil
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        guard mayHaveOriginal else { return nil }
        let plain = retention.original?.options ?? originalOptions
        if origin == nil, isAskedBefore(originalCache),
            await !mayHold(originalCache, options: plain, foundTrace: &foundTrace)
        {
            return nil
        }
        let originalKey = originalKey
        let material: ImageMaterial?
        do throws(KingfisherError) {
            material = try await originalCache.original(
                originalKey, options: plain, during: retention.original, isCurrent: isWanted,
                origin: origin)
        } catch {
            return try passOver(error)
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

    /// Whether a cached original is something else than the final image.
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

    /// A disk that cannot be read is no reason to fail a request that may load.
    func passOver(_ error: KingfisherError) throws(KingfisherError)
        -> RetrieveImageResult?
    {
        if options.onlyFromCache { throw error }
        HalcyonLog.warn(of: error)
        return nil
    }

    /// Whether `cache` is asked where it has the image before it is asked for it: always when probing on the
    /// calling thread, else when a subclass may know better than the files. A prefetcher has asked already.
    private func isAskedBefore(_ cache: ImageCache) -> Bool {
        probing == .onCallingThread || cache.isSubclass && purpose != .prefetch
    }

    /// Whether it is worth asking `cache` for the image.
    private func mayHold(
        _ cache: ImageCache, options: KingfisherParsedOptionsInfo, foundTrace: inout Bool
    ) async -> Bool {
        if cache.shared != nil, !options.fromMemoryCacheOrRefresh {
            // Others may have stored it.
            foundTrace = true
            return true
        }
        let type =
            probing == .onCallingThread
            ? cache.imageCachedType(
                forKey: key, processorIdentifier: options.processor.identifier,
                forcedExtension: options.forcedExtension)
            : await cache.imageCachedTypeAsync(
                forKey: key, processorIdentifier: options.processor.identifier,
                forcedExtension: options.forcedExtension)
        let holds = options.fromMemoryCacheOrRefresh ? type == .memory : type.cached
        foundTrace = foundTrace || holds
        return holds
    }

    /// The bytes of an animation that was decoded with other options than asked for (first frame only,
    /// say), and so has to be made again; `nil` for an image that is as it should be.
    private func bytesToRebuild(_ image: Image) -> Data? {
        guard let animated = image.animatedSource, animated.frameCount > 1,
            image.creatingOptions.withoutLimits != options.imageCreatingOptions.withoutLimits
        else { return nil }
        return animated.data
    }
}

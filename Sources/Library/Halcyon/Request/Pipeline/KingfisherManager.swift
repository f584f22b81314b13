public import Foundation
import Synchronization

/// Loads images through a downloader and a cache: the entry point of the library.
///
/// A request looks in the memory cache, the disk cache and, for a processed image, in the cache of
/// originals, and otherwise loads, processes and stores the image. All members may be used from any
/// thread.
///
/// ```swift
/// manager.defaultOptions = [.diskCacheExpiration(.days(30))]
///
/// let thumbnail = DownsamplingImageProcessor(size: CGSize(width: 32, height: 32))
/// let result = try await manager.retrieveImage(with: url, options: [.processor(thumbnail)])
/// print(result.image.size, result.cacheType)
/// ```
public class KingfisherManager: @unchecked Sendable {
    // Unchecked because the class is not final; its only state is behind a mutex.

    /// The manager that views and builders use: `ImageDownloader.default` and `ImageCache.default`.
    public static let shared = KingfisherManager(downloader: .default, cache: .default)

    private struct State {
        var cache: ImageCache { didSet { parse() } }
        var downloader: ImageDownloader { didSet { parse() } }
        var defaultOptions: KingfisherOptionsInfo = [] { didSet { parse() } }
        private(set) var parsed = KingfisherParsedOptionsInfo.standard

        init(cache: ImageCache, downloader: ImageDownloader) {
            self.cache = cache
            self.downloader = downloader
            parse()
        }

        private mutating func parse() {
            parsed = KingfisherParsedOptionsInfo(
                [.targetCache(cache), .downloader(downloader)] + defaultOptions)
        }
    }

    private let state: Mutex<State>
    let eventHub = EventHub()

    /// Creates a manager with a downloader and a cache.
    public init(downloader: ImageDownloader, cache: ImageCache) {
        state = Mutex(State(cache: cache, downloader: downloader))
    }

    /// The cache used unless a request's options name another one.
    public var cache: ImageCache {
        get { state.withLock { $0.cache } }
        set { state.withLock { $0.cache = newValue } }
    }

    /// The downloader used unless a request's options name another one.
    public var downloader: ImageDownloader {
        get { state.withLock { $0.downloader } }
        set { state.withLock { $0.downloader = newValue } }
    }

    /// The default options of every request; the request's own take precedence.
    public var defaultOptions: KingfisherOptionsInfo {
        get { state.withLock { $0.defaultOptions } }
        set { state.withLock { $0.defaultOptions = newValue } }
    }

    /// Returns the options of a request: this manager's parts, its default options, then `options`.
    func parsedOptions(_ options: KingfisherOptionsInfo?) -> KingfisherParsedOptionsInfo {
        state.withLock { $0.parsed }.followed(by: options)
    }
}

extension KingfisherManager {
    /// Gets an image from the cache, or loads, processes and caches it.
    ///
    /// - Parameters:
    ///   - resource: The image to load; a file URL is read as a file.
    ///   - options: Options that take precedence over the manager's defaults.
    ///   - progressBlock: Called on the main queue as bytes arrive, when their total is known.
    ///   - downloadTaskUpdated: Called when the returned task is replaced by another one, before that
    ///     one completes.
    ///   - completionHandler: Called exactly once, on the `callbackQueue` of the options: before
    ///     this returns for an image in memory, or one read because of `loadDiskFileSynchronously`,
    ///     and afterwards in all other cases.
    /// - Returns: The running load; `nil` when the image comes from the cache, or when no load has
    ///   begun yet because the request modifier is asynchronous.
    @discardableResult
    public func retrieveImage(
        with resource: any Resource, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        downloadTaskUpdated: DownloadTaskUpdatedBlock? = nil,
        completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        retrieveImage(
            with: resource.convertToSource(), options: options, progressBlock: progressBlock,
            downloadTaskUpdated: downloadTaskUpdated, completionHandler: completionHandler)
    }

    /// Gets an image from the cache, or loads, processes and caches it; see the form for resources.
    @discardableResult
    public func retrieveImage(
        with source: Source, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        downloadTaskUpdated: DownloadTaskUpdatedBlock? = nil,
        completionHandler: (@Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void)?
    ) -> DownloadTask? {
        let parsed = parsedOptions(options)
        let request = ImageRequest(
            source: source, options: parsed, progress: MainQueueProgress(progressBlock),
            taskUpdated: downloadTaskUpdated,
            probing: parsed.asyncCacheTypeCheck ? .onItsOwnThread : .onCallingThread
        ).followed(by: eventHub)
        // Runs on this thread up to the first wait, so that a memory hit is delivered, and a download
        // started, before this returns.
        parsed.callbackQueue.deliver(
            to: completionHandler, atOnceIf: { $0.isImmediate }
        ) { hand in
            Task.immediate { hand(await request.run()) }
        }
        return parsed.asyncCacheTypeCheck || request.handle.isInitialized ? request.handle : nil
    }

    /// Gets an image from the cache, or loads, processes and caches it.
    ///
    /// A memory hit returns without suspending. Cancelling the surrounding task cancels the request.
    /// - Throws: `KingfisherError`; `CancellationError` when the task was cancelled beforehand.
    public func retrieveImage(
        with resource: any Resource, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws -> RetrieveImageResult {
        try await retrieveImage(
            with: resource.convertToSource(), options: options, progressBlock: progressBlock)
    }

    /// Gets an image from the cache, or loads, processes and caches it; see the form for resources.
    public func retrieveImage(
        with source: Source, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil
    ) async throws -> RetrieveImageResult {
        try Task.checkCancellation()
        let request = ImageRequest(
            source: source, options: parsedOptions(options),
            progress: MainQueueProgress(progressBlock), probing: .onItsOwnThread
        ).followed(by: eventHub)
        let handle = request.handle
        return try await withTaskCancellationHandler {
            try await request.run().get()
        } onCancel: {
            handle.cancel()
        }
    }

    /// Loads a set of images in parallel that is only useful when complete.
    ///
    /// - Parameters:
    ///   - sources: The images to load; the results have the same order.
    ///   - options: The options of each image.
    ///   - maximumConcurrentLoads: The maximum number of concurrent loads; at least 1.
    ///   - progressBlock: Called on the main queue with the progress of the whole set.
    ///   - completionHandler: Called exactly once, on the `callbackQueue` of the options, with all
    ///     images, or with the first failure, which cancels the other loads. Before this returns if
    ///     all images are in memory, otherwise afterwards.
    /// - Returns: The task that cancels the whole set.
    @discardableResult
    public func retrieveImages(
        with sources: [Source], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable (Result<[RetrieveImageResult], KingfisherError>) -> Void
    ) -> ImageSetTask {
        let load = makeSetLoad(
            sources, options, maximumConcurrentLoads, stopsAtFailure: true, progressBlock)
        return load.begin(
            for: completionHandler,
            atOnceIf: { (try? $0.get())?.allSatisfy(\.isImmediate) ?? false },
            work: { await load.images() })
    }

    /// Loads a set of images that is only useful when complete; see the form for sources.
    @discardableResult
    public func retrieveImages(
        with resources: [any Resource], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable (Result<[RetrieveImageResult], KingfisherError>) -> Void
    ) -> ImageSetTask {
        retrieveImages(
            with: resources.map { $0.convertToSource() }, options: options,
            maximumConcurrentLoads: maximumConcurrentLoads, progressBlock: progressBlock,
            completionHandler: completionHandler)
    }

    /// Loads a set of images in parallel, of which some may fail.
    ///
    /// `completionHandler` is called exactly once, on the `callbackQueue` of the options, with the
    /// result of each source, in their order. Its timing and the other parameters are as for
    /// `retrieveImages`.
    /// - Returns: The task that cancels the whole set.
    @discardableResult
    public func retrieveEachImage(
        with sources: [Source], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable ([Result<RetrieveImageResult, KingfisherError>]) -> Void
    ) -> ImageSetTask {
        let load = makeSetLoad(
            sources, options, maximumConcurrentLoads, stopsAtFailure: false, progressBlock)
        return load.begin(
            for: completionHandler, atOnceIf: { $0.allSatisfy { $0.isImmediate } },
            work: { await load.run().outcomes })
    }

    /// Loads a set of images of which some may fail; see the form for sources.
    @discardableResult
    public func retrieveEachImage(
        with resources: [any Resource], options: KingfisherOptionsInfo? = nil,
        maximumConcurrentLoads: Int = 5, progressBlock: ImageSetProgressBlock? = nil,
        completionHandler:
            @escaping @Sendable ([Result<RetrieveImageResult, KingfisherError>]) -> Void
    ) -> ImageSetTask {
        retrieveEachImage(
            with: resources.map { $0.convertToSource() }, options: options,
            maximumConcurrentLoads: maximumConcurrentLoads, progressBlock: progressBlock,
            completionHandler: completionHandler)
    }
}

/// A delivered image, with its location in the cache.
public struct RetrieveImageResult: Sendable {
    /// The image, with the request's image modifier applied.
    public let image: KFCrossPlatformImage
    /// The cache that had the image; `.none` if it was loaded or made from a cached original.
    public let cacheType: CacheType
    /// The source of the image.
    public let source: Source
    /// The requested source.
    public let originalSource: Source
    /// The bytes: those loaded, or for a cached image those made by the serializer. May take as
    /// long as encoding the image.
    public let data: @Sendable () -> Data?
    /// The network measurements of a fresh download.
    public internal(set) var metrics: NetworkMetrics?
    /// The use of the HTTP cache; `nil` without `httpCaching` and for data providers.
    public internal(set) var httpCacheUse: HTTPCacheUse?
    /// The identity of the image's response, with HTTP caching. Not the record itself, which lives
    /// as long as the caches hold images made from it.
    var response: ObjectIdentifier?
    /// Whether there was no wait, so that the image is delivered before the call for it returns.
    var isImmediate = false

    public init(
        image: KFCrossPlatformImage, cacheType: CacheType, source: Source, originalSource: Source,
        data: @escaping @Sendable () -> Data?, metrics: NetworkMetrics? = nil
    ) {
        self.image = image
        self.cacheType = cacheType
        self.source = source
        self.originalSource = originalSource
        self.data = data
        self.metrics = metrics
    }
}

extension Result<RetrieveImageResult, KingfisherError> {
    /// Whether it is delivered before the call for it returns; a failure never is.
    var isImmediate: Bool {
        if case .success(let value) = self { value.isImmediate } else { false }
    }
}

/// Called with the task that replaces the previous one; `nil` if the replacement needs none.
public typealias DownloadTaskUpdatedBlock = @Sendable (_ newTask: DownloadTask?) -> Void

/// Called with the bytes received and expected, on the main queue. Called only if the total is
/// known.
public typealias DownloadProgressBlock = (_ receivedSize: Int64, _ totalSize: Int64) -> Void

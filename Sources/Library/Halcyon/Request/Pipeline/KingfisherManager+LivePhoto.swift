public import Foundation
import HalcyonWork

extension KingfisherManager {
    /// Retrieves the files of a live photo: missing ones are loaded, all at once, and written to
    /// the disk cache unchanged.
    ///
    /// Only the options about downloads and the disk cache apply; files are neither processed nor
    /// kept in memory, and their extensions follow their types. With `.httpCaching` the servers
    /// determine their freshness. Cancelling the surrounding task cancels the request.
    ///
    /// - Parameters:
    ///   - source: The files of the photo.
    ///   - options: Options applied after the manager's defaults.
    ///   - progressBlock: Called on the main queue with the sums over the running downloads.
    ///   - referenceTaskIdentifierChecker: Returns whether the live photo is still wanted; called
    ///     when its files are available.
    /// - Throws: `KingfisherError`: `livePhotoTaskCancelled` after a cancellation,
    ///   `notCurrentLivePhotoSourceTask` when it is no longer wanted, `imageNotExisting` for
    ///   `onlyFromCache`, `missingLivePhotoResourceOnDisk` when a file has vanished again, or why a
    ///   file could not be loaded or written. `CancellationError` when the task was cancelled
    ///   beforehand.
    public func retrieveLivePhoto(
        with source: LivePhotoSource, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        referenceTaskIdentifierChecker: (@Sendable () -> Bool)? = nil
    ) async throws -> LivePhotoLoadingInfoResult {
        try Task.checkCancellation()
        let parsed = parsedOptions(options)
        let cache = parsed.targetCache ?? cache
        let missing = await DiskLane.reading.run {
            self.missingResources(source, options: parsed)
        }
        if parsed.onlyFromCache,
            let first = missing.first(where: { request(for: $0, parsed) == nil })
        {
            throw KingfisherError.cacheError(
                reason: .imageNotExisting(key: parsed.cacheKey(of: first.dataSource)))
        }
        let loaded: [LivePhotoResourceDownloadingResult]
        do {
            loaded = try await downloadAndCache(
                resources: missing, options: parsed, progress: progressBlock)
        } catch {
            guard Task.isCancelled else { throw error }
            throw KingfisherError.requestError(reason: .livePhotoTaskCancelled(source: source))
        }
        let found = await DiskLane.reading.run {
            source.resources.map {
                cache.possibleCacheFileURLIfOnDisk(resource: $0, options: parsed)
            }
        }
        let files = try zip(source.resources, found).map { resource, file in
            guard let file else {
                throw KingfisherError.cacheError(
                    reason: .missingLivePhotoResourceOnDisk(resource))
            }
            return file
        }
        let result = LivePhotoLoadingInfoResult(
            fileURLs: files, cacheType: loaded.isEmpty ? .disk : .none, source: source,
            originalSource: source, data: { loaded.map(\.originalData) })
        if let referenceTaskIdentifierChecker, !referenceTaskIdentifierChecker() {
            throw KingfisherError.imageSettingError(
                reason: .notCurrentLivePhotoSourceTask(result: result, error: nil, source: source))
        }
        return result
    }

    /// Returns the resources to load: those without a file on disk, or all for a refresh; and those
    /// subject to HTTP caching. Reads the disk on the calling thread.
    func missingResources(
        _ source: LivePhotoSource, options: KingfisherParsedOptionsInfo
    ) -> [LivePhotoResource] {
        if options.forceRefresh || options.fromMemoryCacheOrRefresh { return source.resources }
        let cache = options.targetCache ?? cache
        return source.resources.filter {
            request(for: $0, options) != nil
                || cache.possibleCacheFileURLIfOnDisk(resource: $0, options: options) == nil
        }
    }

    /// Returns the request for a resource with HTTP caching; `nil` if that is off, or if the file's
    /// extension depends on its bytes.
    private func request(
        for resource: LivePhotoResource, _ options: KingfisherParsedOptionsInfo,
        progress: DownloadProgressBlock? = nil
    ) -> ImageRequest? {
        guard options.asksForHTTPCaching, !resource.referenceFileType.fileExtension.isEmpty else {
            return nil
        }
        var options = options
        options.targetCache = options.targetCache ?? cache
        options.originalCache = nil
        options.downloader = options.downloader ?? downloader
        options.processor = IdentifierProcessor(identifier: LivePhotoResource.processorIdentifier)
        options.forcedExtension = resource.referenceFileType.fileExtension
        options.cacheMemoryOnly = false
        options.imageModifier = nil
        var request = ImageRequest(
            source: resource.dataSource, options: options, progress: MainQueueProgress(progress),
            probing: .onItsOwnThread)
        request.goal = .file
        return request.followsHTTPCaching ? request : nil
    }

    /// Loads the resources concurrently and writes them to disk; returns the results in their
    /// order, without those whose cached files are still valid.
    func downloadAndCache(
        resources: [LivePhotoResource], options: KingfisherParsedOptionsInfo,
        progress: DownloadProgressBlock? = nil
    ) async throws -> [LivePhotoResourceDownloadingResult] {
        let downloader = options.downloader ?? downloader
        let cache = options.targetCache ?? cache
        var sum: ImageSetProgressBlock?
        if let progress = MainQueueProgress(progress) {
            sum = { progress.block($0.receivedBytes, $0.expectedBytes) }
        }
        let progress = ImageSetProgressReporter(count: resources.count, sum)
        return try await withThrowingTaskGroup(
            of: (Int, LivePhotoResourceDownloadingResult?).self
        ) { group in
            for (index, resource) in resources.enumerated() {
                let part = progress?.progress(of: index)
                let request = request(for: resource, options, progress: part?.block)
                group.addTask {
                    if let request { return (index, try await request.file()) }
                    let result = try await resource.load(
                        with: downloader, options: options, progress: part?.block)
                    try await cache.storeLivePhoto(
                        result.originalData, of: resource, options: options)
                    return (index, result)
                }
            }
            var results: [Int: LivePhotoResourceDownloadingResult] = [:]
            for try await (index, result) in group { results[index] = result }
            return resources.indices.compactMap { results[$0] }
        }
    }
}

extension ImageRequest {
    /// Brings the file to the disk; `nil` if the cached file is valid.
    fileprivate func file() async throws -> LivePhotoResourceDownloadingResult? {
        let result = try await handle.cancelled { try await freshImage() }
        guard case .fetched? = result.httpCacheUse, let bytes = result.data() else { return nil }
        return LivePhotoResourceDownloadingResult(originalData: bytes, url: source.url)
    }
}

extension LivePhotoResource {
    fileprivate func load(
        with downloader: ImageDownloader, options: KingfisherParsedOptionsInfo,
        progress: DownloadProgressBlock?
    ) async throws -> LivePhotoResourceDownloadingResult {
        switch dataSource {
        case .network(let resource):
            return try await downloader.downloadLivePhotoResource(
                with: resource.downloadURL, options: options, progress: progress)
        case .provider(let provider):
            do {
                return LivePhotoResourceDownloadingResult(
                    originalData: try await provider.data(), url: provider.contentURL)
            } catch {
                throw KingfisherError.imageSettingError(
                    reason: .dataProviderError(provider: provider, error: error))
            }
        }
    }
}

/// The files of a live photo, with their location in the cache.
public struct LivePhotoLoadingInfoResult: Sendable {
    /// The cached files, in the order of the source's resources.
    public let fileURLs: [URL]
    /// `.disk` if all files were cached, `.none` if at least one had to be loaded.
    public let cacheType: CacheType
    /// The source of the files.
    public let source: LivePhotoSource
    /// The requested source.
    public let originalSource: LivePhotoSource
    /// The bytes of the loaded files, in order; without those of cached files.
    public let data: @Sendable () -> [Data]

    public init(
        fileURLs: [URL], cacheType: CacheType, source: LivePhotoSource,
        originalSource: LivePhotoSource, data: @escaping @Sendable () -> [Data]
    ) {
        self.fileURLs = fileURLs
        self.cacheType = cacheType
        self.source = source
        self.originalSource = originalSource
        self.data = data
    }
}

import Foundation
import FoundationNetworking
import HalcyonWork

extension ImageRequest {
    /// Whether HTTP caching determines the image's freshness. Not with subclasses of caches or
    /// downloaders: the results of their methods are the program's own decision.
    var followsHTTPCaching: Bool {
        guard options.asksForHTTPCaching, case .network = source else { return false }
        return !targetCache.isSubclass && !originalCache.isSubclass && !downloader.isSubclass
    }

    /// Makes one attempt with HTTP caching, after a miss in memory: index → decision → server →
    /// deliver.
    ///
    /// Each redirect is a request of its own: it is looked up, decided on and sent separately.
    func freshImage() async throws(KingfisherError) -> RetrieveImageResult {
        let key = imageKey ?? ImageKey(self.key, options)
        let retention = retain()
        defer { retention.release() }
        guard case .download(let resource, let downloader, let downloads) = retention.loading else {
            preconditionFailure("what a data provider gives has no freshness")
        }
        // Looked up in the form in which it will be sent; `nil` if the modifier returns none.
        let prepared = try await handedOver { hand in
            downloader.prepare(
                resource.downloadURL, by: options.requestModifier, for: handle, completion: hand)
        }.get().map(downloader.currentSettings.completed)
        try checkStillWanted()
        if let image = decidedInMemory(prepared, resource) {
            return await deliverFromMemory(image, .fresh, isImmediate: !preparesLater)
        }
        await bringShared(key, first: prepared?.url ?? resource.downloadURL, resource)
        if let stored = try await storedByProgram(key, retention) {
            if isReplacement { taskUpdated?(nil) }
            return stored
        }
        var walk = FreshnessWalk(
            request: self, resource: resource, downloads: downloads, key: key, retention: retention,
            policy: HTTPCachePolicy(options.httpCaching), next: prepared)
        return try await walk.image()
    }

    /// An image in memory that is fresh by HTTP caching. Without a request modifier this costs
    /// little more than a plain memory hit: an image with an origin is from the network, which need
    /// not be checked.
    var freshInMemory: Image? {
        guard options.asksForHTTPCaching, !options.hasRequestModifier, !options.forceRefresh,
            !isReplacement, purpose != .revalidation
        else { return nil }
        let cache = targetCache
        guard !cache.isSubclass,
            let (image, origin) = cache.originatedImage(forKey: key, options: options), let origin
        else { return nil }
        let downloader = downloader
        guard origin.isUsable(at: downloader.now(), under: options.httpCaching),
            origin.way.isEmpty || options.redirectHandler == nil, let image = asWanted(image)
        else { return nil }
        downloader.cacheLog.note { HTTPCacheEvent(key: key, kind: .freshInMemory) }
        return image
    }

    /// Returns an image in memory that may be used for the request as it will be sent, according to
    /// its record in this process: neither the index nor a file is read.
    private func decidedInMemory(
        _ sent: URLRequest?, _ resource: any Resource
    ) -> Image? {
        guard !options.forceRefresh, !isReplacement, purpose != .revalidation,
            let (image, origin) = targetCache.originatedImage(forKey: key, options: options),
            let origin, let record = origin.record, record.isCurrent,
            // Redirects are decided on one by one.
            origin.isWayKnown, origin.way.isEmpty
        else { return nil }
        let url = sent?.url ?? resource.downloadURL
        let policy = HTTPCachePolicy(options.httpCaching)
        let asked = HTTPCacheRequest(sent, to: url)
        let selection = policy.select(asked, among: [record.stored])
        guard record.key == firstResponseKey(url, resource),
            case .use = policy.decide(asked, with: selection, now: downloader.now()),
            let image = asWanted(image)
        else { return nil }
        note(.freshInMemory)
        return image
    }

    /// Fetches a file missing on disk from the shared storage, with its response, so that later
    /// steps find it as if this machine had loaded it.
    private func bringShared(_ key: ImageKey, first url: URL, _ resource: any Resource) async {
        guard targetCache.shared != nil || originalCache.shared != nil else { return }
        if options.forceRefresh || options.fromMemoryCacheOrRefresh || options.cacheMemoryOnly {
            return
        }
        if targetCache.originatedImage(forKey: self.key, options: options) != nil { return }
        let responseKey = firstResponseKey(url, resource)
        let originals = mayHaveOriginal ? [(originalCache, originalKey)] : []
        for (cache, key) in [(targetCache, key)] + originals where cache.shared != nil {
            if await fileOrigin(key, in: cache) != nil { return }
            let bytes = await cache.bring(
                key, options: options, responseKey: responseKey, isCurrent: isWanted)
            if bytes != nil { return }
        }
    }

    func firstResponseKey(_ url: URL, _ resource: any Resource) -> String {
        // The cache key that the program has given the resource, if it is not just its URL.
        let isExplicit = resource.cacheKey != resource.downloadURL.absoluteString
        return ResponseKey.key(
            resourceKey: isExplicit ? resource.cacheKey : nil, url: url,
            normalizer: options.cacheKeyNormalizer, partition: options.httpCaching.partition)
    }

    /// Returns the image stored by the program itself, to which HTTP caching does not apply.
    private func storedByProgram(
        _ key: ImageKey, _ retention: Retention
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        if options.forceRefresh { return nil }
        if let (image, origin) = targetCache.originatedImage(forKey: self.key, options: options),
            let origin, origin.record == nil
        {
            note(.storedByProgram)
            return await deliverFromMemory(image, .fresh, isImmediate: !preparesLater)
        }
        if options.fromMemoryCacheOrRefresh { return nil }
        if await fileOrigin(key, in: targetCache)?.derivation == .program,
            let result = storesBytesOnly ? unreadResult : try await cached(key, of: .program)
        {
            note(.storedByProgram)
            options.events?.note(.found(.disk))
            return used(.fresh, result)
        }
        if mayHaveOriginal,
            await fileOrigin(originalKey, in: originalCache)?.derivation == .program,
            let result = try await made(of: .program, key, retention)
        {
            note(.storedByProgram)
            return used(.fresh, result)
        }
        return nil
    }

    func fileOrigin(_ key: ImageKey, in cache: ImageCache) async -> FileOrigin? {
        let name = key.fileName(in: cache)
        // Pending writes are awaited first.
        await cache.operations.pending(name)?.value
        return await onDisk { [files = cache.diskStorage.files] in
            // A file whose row cannot be read is of unknown origin.
            try? files.origin(of: name)
        }
    }

    /// Copies the bytes of a response under another key to `key`: those of an image by the same processor,
    /// or for the unprocessed image the response's own. Returns whether they are stored now.
    func bringFromOtherKey(
        _ key: ImageKey, of origin: ImageOrigin, _ record: ResponseRecord, in cache: ImageCache
    ) async -> Bool {
        guard !cache.isSubclass else { return false }
        let own = key.fileName(in: cache)
        let others = record.imageKeys.map {
            ImageKey($0, processor: key.processor, forcedExtension: key.forcedExtension)
        }
        // Pending writes are awaited first.
        for other in others { await cache.operations.pending(other.fileName(in: cache))?.value }
        let (row, variant) = (record.rowKey, record.variant)
        let (generation, processor) = (record.generation, key.processor)
        let names = Set(others.map { $0.fileName(in: cache) })
        let bytes: Data? = await onDisk { [files = cache.diskStorage.files] in
            // An unreadable index contains no other file.
            let made = try? files.files(ofResponse: row, variant: variant, generation: generation)
            let found = made?.first { file in
                guard file.name != own else { return false }
                let isSame = processor.isEmpty ? file.isOriginal : file.processor == processor
                return isSame || names.contains(file.name)
            }
            guard let found else { return nil }
            // An unreadable file is useless.
            return try? files.value(of: found.name, forKey: found.key ?? "", extending: .none) {
                $0
            }
        }
        guard let bytes, isWanted() else { return false }
        _ = await cache.startWriting(
            bytes, for: key, expiration: options.diskCacheExpiration,
            writeOptions: options.diskStoreWriteOptions, stated: StatedOrigin(origin)
        ).value
        return record.isOrigin(of: await fileOrigin(key, in: cache))
    }

    /// Runs `body`, which reads the index: on the calling thread if work must have begun when the
    /// call returns, otherwise on a thread of the disk.
    func onDisk<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        probing == .onCallingThread ? body() : await DiskLane.reading.run(body)
    }

    func cached(
        _ key: ImageKey, of origin: ImageOrigin
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        guard let found = try await found(key, of: origin), let image = found.image else {
            return nil
        }
        return await deliverCached(image, from: found.cacheType)
    }

    /// Logs an event that needed no decision.
    private func note(_ kind: HTTPCacheEvent.Kind) {
        downloader.cacheLog.note { HTTPCacheEvent(key: key, kind: kind) }
    }

    func used(_ use: HTTPCacheUse, _ result: RetrieveImageResult) -> RetrieveImageResult {
        var result = result
        result.httpCacheUse = use
        return result
    }
}

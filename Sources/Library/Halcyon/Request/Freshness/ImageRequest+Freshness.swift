import Foundation
import FoundationNetworking
import HalcyonHTTP
import HalcyonStorage
import HalcyonWork

extension ImageRequest {
    /// Whether the rules of HTTP say how long the image is good for. A cache or a downloader of the
    /// program's own class is asked as ever: what its methods answer is the program's word.
    var followsHTTPCaching: Bool {
        guard options.asksForHTTPCaching, case .network = source else { return false }
        return !targetCache.isSubclass && !originalCache.isSubclass && !downloader.isSubclass
    }

    /// One attempt by the rules of HTTP for what is not fresh in memory: index → decision → server →
    /// deliver.
    ///
    /// Each redirect is a request of its own: it is looked up, decided on and sent by itself.
    func freshImage() async throws(KingfisherError) -> RetrieveImageResult {
        let key = imageKey ?? ImageKey(self.key, options)
        let retention = retain()
        defer { retention.release() }
        guard case .download(let resource, let downloader, let downloads) = retention.loading else {
            preconditionFailure("what a data provider gives has no freshness")
        }
        // Looked up as it will be sent; `nil` when the modifier wants nothing to be sent.
        let prepared = try await handedOver { hand in
            downloader.prepare(
                resource.downloadURL, by: options.requestModifier, for: handle, completion: hand)
        }.get().map(downloader.currentSettings.completed)
        try checkStillWanted()
        if let image = decidedInMemory(prepared, resource) {
            options.events?.note(.found(.memory))
            return used(
                .fresh, await deliverCached(image, from: .memory, isImmediate: !preparesLater))
        }
        await bringShared(key, first: prepared?.url ?? resource.downloadURL, resource)
        if let stored = try await storedByProgram(key, retention) {
            if attempt == .replacement { taskUpdated?(nil) }
            return stored
        }
        var walk = FreshnessWalk(
            request: self, resource: resource, downloads: downloads, key: key, retention: retention,
            first: prepared)
        return try await walk.image()
    }

    /// An image in memory that is fresh by the rules of HTTP. Who has no request modifier pays little more
    /// for it than without them: that what has an origin is of the network need not be asked.
    var freshInMemory: Image? {
        guard options.asksForHTTPCaching, !options.hasRequestModifier, !options.forceRefresh,
            attempt == .first, purpose != .revalidation
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

    /// An image in memory that may be used for the request as it will be sent, by what this process knows of
    /// its response: neither the index nor a file is looked at for it.
    private func decidedInMemory(
        _ sent: URLRequest?, _ resource: any Resource
    ) -> Image? {
        guard !options.forceRefresh, attempt == .first, purpose != .revalidation,
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

    /// Brings what the disk does not have from the storage that machines share, with the response that it was
    /// made of, so that all that follows finds it as if this machine had loaded it.
    private func bringShared(_ key: ImageKey, first url: URL, _ resource: any Resource) async {
        guard targetCache.shared != nil || originalCache.shared != nil else { return }
        if options.forceRefresh || options.fromMemoryCacheOrRefresh || options.cacheMemoryOnly {
            return
        }
        if targetCache.originatedImage(forKey: self.key, options: options) != nil { return }
        let responseKey = firstResponseKey(url, resource)
        if targetCache.shared != nil {
            if await fileOrigin(key, in: targetCache) != nil { return }
            let bytes = await targetCache.bring(
                key, options: options, responseKey: responseKey, isCurrent: isWanted)
            if bytes != nil { return }
        }
        guard mayHaveOriginal, originalCache.shared != nil,
            await fileOrigin(originalKey, in: originalCache) == nil
        else { return }
        await originalCache.bring(
            originalKey, options: options, responseKey: responseKey, isCurrent: isWanted)
    }

    /// What the response to the first request is found by.
    func firstResponseKey(_ url: URL, _ resource: any Resource) -> String {
        // The cache key that the program has given the resource, if it is not just its URL.
        let isExplicit = resource.cacheKey != resource.downloadURL.absoluteString
        return ResponseKey.key(
            resourceKey: isExplicit ? resource.cacheKey : nil, url: url,
            normalizer: options.cacheKeyNormalizer, partition: options.httpCaching.partition)
    }

    /// The image that the program itself has stored: HTTP has nothing to say about it.
    private func storedByProgram(
        _ key: ImageKey, _ retention: Retention
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        if options.forceRefresh { return nil }
        if let (image, origin) = targetCache.originatedImage(forKey: self.key, options: options),
            let origin, origin.record == nil
        {
            note(.storedByProgram)
            options.events?.note(.found(.memory))
            return used(
                .fresh, await deliverCached(image, from: .memory, isImmediate: !preparesLater))
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

    /// What the index says of a file.
    func fileOrigin(_ key: ImageKey, in cache: ImageCache) async -> FileOrigin? {
        let name = key.fileName(in: cache)
        // What is being written is looked at when it is there.
        await cache.operations.pending(name)?.value
        return await onDisk { [files = cache.diskStorage.files] in
            // A file that nothing can be learnt of is of unknown origin.
            try? files.origin(of: name)
        }
    }

    /// Stores under `key` the bytes that a cache has of a response under another one: those of an image by the
    /// same processor, or for the unprocessed image the response's own.
    ///
    /// - Returns: Whether there were any, and they are stored.
    func bringFromOtherKey(
        _ key: ImageKey, of origin: ImageOrigin, _ record: ResponseRecord, in cache: ImageCache
    ) async -> Bool {
        guard !cache.isSubclass else { return false }
        let own = key.fileName(in: cache)
        let others = record.imageKeys.map {
            ImageKey($0, processor: key.processor, forcedExtension: key.forcedExtension)
        }
        // What is being written is looked at when it is there.
        for other in others { await cache.operations.pending(other.fileName(in: cache))?.value }
        let (row, variant) = (record.rowKey, record.variant)
        let (generation, processor) = (record.generation, key.processor)
        let names = Set(others.map { $0.fileName(in: cache) })
        let bytes: Data? = await onDisk { [files = cache.diskStorage.files] in
            // An index that cannot be read knows of no other file.
            let made = try? files.files(ofResponse: row, variant: variant, generation: generation)
            let found = made?.first { file in
                guard file.name != own else { return false }
                let isSame = processor.isEmpty ? file.isOriginal : file.processor == processor
                return isSame || names.contains(file.name)
            }
            guard let found else { return nil }
            // One that cannot be read is of no use.
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

    /// Runs what reads the index: here, when what begins is to have begun when the call returns, else on
    /// a thread of the disk.
    func onDisk<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
        probing == .onCallingThread ? body() : await DiskLane.reading.run(body)
    }

    /// The final image, if it is cached and made of `origin`.
    func cached(
        _ key: ImageKey, of origin: ImageOrigin
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        let found: ImageCacheResult
        do throws(KingfisherError) {
            found = try await targetCache.lookup(
                key, options: options, isCurrent: isWanted, origin: origin, accepting: asWanted)
        } catch {
            return try passOver(error)
        }
        guard let image = found.image else { return nil }
        return await deliverCached(image, from: found.cacheType)
    }

    /// The final image, made of a cached original that is of `origin`.
    func made(
        of origin: ImageOrigin, _ key: ImageKey, _ retention: Retention
    ) async throws(KingfisherError) -> RetrieveImageResult? {
        var foundTrace = false
        return try await madeOfOriginal(key, retention, &foundTrace, of: origin)
    }

    /// Tells the log of what needed no decision.
    private func note(_ kind: HTTPCacheEvent.Kind) {
        downloader.cacheLog.note { HTTPCacheEvent(key: key, kind: kind) }
    }

    /// `result` with the note how it came about.
    func used(_ use: HTTPCacheUse, _ result: RetrieveImageResult) -> RetrieveImageResult {
        var result = result
        result.httpCacheUse = use
        return result
    }
}

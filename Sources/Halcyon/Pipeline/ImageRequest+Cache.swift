import Foundation
import HalcyonWork

extension ImageRequest {
    /// The final image, if the target cache has it in memory.
    func memoryHit() async -> RetrieveImageResult? {
        guard !options.forceRefresh, !isReplacement,
            let image = targetCache.retrieveImageInMemoryCache(forKey: key, options: options)
        else { return nil }
        return deliverSerializing(await rebuiltIfNeeded(image), cacheType: .memory)
    }

    /// The final image, from the target cache. `foundTrace` becomes true when the cache seemed to
    /// hold it.
    func cachedTarget(_ key: ImageKey, _ foundTrace: inout Bool) async throws(KingfisherError)
        -> RetrieveImageResult?
    {
        guard mayHold(targetCache, options: options, foundTrace: &foundTrace) else { return nil }
        let found: ImageCacheResult
        do throws(KingfisherError) {
            found = try await self.found(key, isCurrent: isWanted)
        } catch {
            return try passOver(error)
        }
        guard let image = found.image else { return nil }
        return deliverSerializing(await rebuiltIfNeeded(image), cacheType: found.cacheType)
    }

    /// What the target cache says.
    func found(_ key: ImageKey, isCurrent: @escaping @Sendable () -> Bool)
        async throws(KingfisherError) -> ImageCacheResult
    {
        targetCache.isSubclass
            ? try await targetCache.overriddenLookup(key, options: options, isCurrent: isCurrent)
            : try await targetCache.lookup(key, options: options, isCurrent: isCurrent)
    }

    /// The final image, made of the cached original.
    func madeOfOriginal(_ key: ImageKey, _ visit: Visit, _ foundTrace: inout Bool)
        async throws(KingfisherError) -> RetrieveImageResult?
    {
        guard mayHaveOriginal else { return nil }
        let plain = originalOptions
        guard mayHold(originalCache, options: plain, foundTrace: &foundTrace) else { return nil }
        let originalKey = originalKey
        let material: ImageMaterial?
        do throws(KingfisherError) {
            material = try await originalCache.original(
                originalKey, options: plain, during: visit.original, isCurrent: isWanted)
        } catch {
            return try passOver(error)
        }
        guard let material else { return nil }
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
                originalCache.storeInMemory(image, for: originalKey, options: plain)
            }
            await store(image, of: material, original: nil, for: key)
            return deliverSerializing(image, cacheType: .none)
        }
    }

    /// Whether a cached original is something else than the final image.
    var mayHaveOriginal: Bool {
        !options.forceRefresh && (originalCache !== targetCache || hasProcessor)
    }

    var originalKey: ImageKey { ImageKey(key, forcedExtension: options.forcedExtension) }

    var originalOptions: KingfisherParsedOptionsInfo {
        var plain = options
        plain.processor = DefaultImageProcessor.default
        return plain
    }

    /// Whether the request has neither been cancelled nor superseded.
    private var isWanted: @Sendable () -> Bool {
        { [isCurrent, handle] in (isCurrent?() ?? true) && !handle.isCancelled }
    }

    /// A disk that cannot be read is no reason to fail a request that may load.
    private func passOver(_ error: KingfisherError) throws(KingfisherError)
        -> RetrieveImageResult?
    {
        if options.onlyFromCache { throw error }
        HalcyonLog.warn(of: error)
        return nil
    }

    /// Whether it is worth asking `cache`. Known at once only when probing on the calling thread.
    private func mayHold(
        _ cache: ImageCache, options: KingfisherParsedOptionsInfo, foundTrace: inout Bool
    ) -> Bool {
        guard probing == .onCallingThread else { return true }
        let type = cache.imageCachedType(
            forKey: key, processorIdentifier: options.processor.identifier,
            forcedExtension: options.forcedExtension)
        let holds = options.fromMemoryCacheOrRefresh ? type == .memory : type.cached
        foundTrace = foundTrace || holds
        return holds
    }

    /// An animation that was decoded with other options than asked for (first frame only, say), made
    /// again from the bytes it carries.
    private func rebuiltIfNeeded(_ image: Image) async -> Image {
        guard let animated = image.animatedSource, animated.frameCount > 1,
            let data = animated.data,
            image.creatingOptions.withoutLimits != options.imageCreatingOptions.withoutLimits
        else { return image }
        // A cached image that cannot be made again is better than none.
        let item = ImageProcessItem.data(data)
        return (try? await item.processed(options)) ?? image
    }
}

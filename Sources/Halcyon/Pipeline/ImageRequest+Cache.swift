import Foundation

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
    func cachedTarget(foundTrace: inout Bool) async throws(KingfisherError) -> RetrieveImageResult?
    {
        guard mayHold(targetCache, options: options, foundTrace: &foundTrace) else { return nil }
        let found = try await lookup(in: targetCache, options: options)
        guard let image = found.image else { return nil }
        return deliverSerializing(
            await rebuiltIfNeeded(image), cacheType: found.cacheType)
    }

    /// The final image, made of the cached original.
    func cachedOriginal(foundTrace: inout Bool) async throws(KingfisherError)
        -> RetrieveImageResult?
    {
        guard originalCache !== targetCache || hasProcessor else { return nil }
        var plain = options
        plain.processor = DefaultImageProcessor.default
        guard mayHold(originalCache, options: plain, foundTrace: &foundTrace) else { return nil }
        let found = try await lookup(in: originalCache, options: plain)
        guard let original = found.image else { return nil }
        let item = ImageProcessItem.image(original)
        let image = try await item.processed(options)
        await store(image, original: nil)
        return deliverSerializing(image, cacheType: .none)
    }

    /// Asks a cache. A disk that cannot be read is no reason to fail a request that may load.
    private func lookup(in cache: ImageCache, options: KingfisherParsedOptionsInfo)
        async throws(KingfisherError) -> ImageCacheResult
    {
        do throws(KingfisherError) {
            return try await cache.lookup(key: key, options: options, isCurrent: isCurrent)
        } catch {
            if options.onlyFromCache { throw error }
            HalcyonLog.warn(of: error)
            return .none
        }
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
            !image.creatingOptions.hasSameEffect(as: options.imageCreatingOptions)
        else { return image }
        // A cached image that cannot be made again is better than none.
        let item = ImageProcessItem.data(data)
        return (try? await item.processed(options)) ?? image
    }
}

extension ImageCreatingOptions {
    /// Whether both make the same image of the same bytes.
    fileprivate func hasSameEffect(as other: ImageCreatingOptions) -> Bool {
        var same = other
        same.limits = limits
        return self == same
    }
}

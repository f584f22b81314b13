public import Foundation

@MainActor extension KFOptionSetter {
    /// Sets the cache that final images are looked up and stored in.
    public func targetCache(_ cache: ImageCache) -> Self {
        setting(\.targetCache, to: cache)
    }

    /// Sets the cache that unprocessed originals are looked up and stored in.
    public func originalCache(_ cache: ImageCache) -> Self {
        setting(\.originalCache, to: cache)
    }

    /// Sets what makes the cache key of a URL without a key of its own; `nil` takes the URL itself.
    public func cacheKeyNormalizer(_ normalizer: CacheKeyNormalizer?) -> Self {
        setting(\.cacheKeyNormalizer, to: normalizer)
    }

    /// Sets the downloader.
    public func downloader(_ downloader: ImageDownloader) -> Self {
        setting(\.downloader, to: downloader)
    }

    /// Whether to skip all cache look-ups.
    public func forceRefresh(_ enabled: Bool = true) -> Self {
        setting(\.forceRefresh, to: enabled)
    }

    /// Whether to accept images in the memory cache only, and load again otherwise.
    public func fromMemoryCacheOrRefresh(_ enabled: Bool = true) -> Self {
        setting(\.fromMemoryCacheOrRefresh, to: enabled)
    }

    /// Whether to keep the final image out of the disk cache.
    public func cacheMemoryOnly(_ enabled: Bool = true) -> Self {
        setting(\.cacheMemoryOnly, to: enabled)
    }

    /// Whether to complete only after the disk has been written.
    public func waitForCache(_ enabled: Bool = true) -> Self {
        setting(\.waitForCache, to: enabled)
    }

    /// Whether never to load what is not cached.
    public func onlyFromCache(_ enabled: Bool = true) -> Self {
        setting(\.onlyFromCache, to: enabled)
    }

    /// Whether to decode images before they are delivered. Halcyon always does.
    public func backgroundDecode(_ enabled: Bool = true) -> Self {
        setting(\.backgroundDecode, to: enabled)
    }

    /// Sets where completions run. Those of views are on the main actor all the same.
    public func callbackQueue(_ queue: CallbackQueue) -> Self {
        setting(\.callbackQueue, to: queue)
    }

    /// Sets the pixels per point of created images.
    public func scaleFactor(_ factor: CGFloat) -> Self {
        setting(\.scaleFactor, to: factor)
    }

    /// Whether to write the original bytes to the original cache's disk too.
    public func cacheOriginalImage(_ enabled: Bool = true) -> Self {
        setting(\.cacheOriginalImage, to: enabled)
    }

    /// Whether originals written by `cacheOriginalImage` keep what their metadata tells of the place
    /// where the picture was taken.
    public func keepPositionInOriginal(_ enabled: Bool = true) -> Self {
        setting(\.keepPositionInOriginal, to: enabled)
    }

    /// Sets how files are written into the disk cache.
    public func diskStoreWriteOptions(_ writingOptions: Data.WritingOptions) -> Self {
        setting(\.diskStoreWriteOptions, to: writingOptions)
    }

    /// Whether to read the disk cache on the calling thread.
    public func loadDiskFileSynchronously(_ enabled: Bool = true) -> Self {
        setting(\.loadDiskFileSynchronously, to: enabled)
    }

    /// Sets where processors run; `nil` is the decoding pool.
    public func processingQueue(_ queue: CallbackQueue?) -> Self {
        setting(\.processingQueue, to: queue)
    }

    /// Whether to show cached images with the transition too.
    public func forceTransition(_ enabled: Bool = true) -> Self {
        setting(\.forceTransition, to: enabled)
    }

    /// Sets what is shown when loading fails; `nil` shows nothing then.
    public func onFailureImage(_ image: KFCrossPlatformImage?) -> Self {
        setting(\.onFailureImage, to: .some(image))
    }

    /// Sets how long the memory cache keeps the image; `nil` is the cache's own setting.
    public func memoryCacheExpiration(_ expiration: StorageExpiration?) -> Self {
        setting(\.memoryCacheExpiration, to: expiration)
    }

    /// Sets what a hit in the memory cache does to the expiration.
    public func memoryCacheAccessExtending(_ extending: ExpirationExtending) -> Self {
        setting(\.memoryCacheAccessExtendingExpiration, to: extending)
    }

    /// Sets how long the disk cache keeps the image; `nil` is the cache's own setting.
    public func diskCacheExpiration(_ expiration: StorageExpiration?) -> Self {
        setting(\.diskCacheExpiration, to: expiration)
    }

    /// Sets what a hit in the disk cache does to the expiration.
    public func diskCacheAccessExtending(_ extending: ExpirationExtending) -> Self {
        setting(\.diskCacheAccessExtendingExpiration, to: extending)
    }
}

public import Foundation

/// The options of a request; later items win over earlier ones.
public typealias KingfisherOptionsInfo = [KingfisherOptionsInfoItem]

/// One option of a request. Items without a value switch something on.
public enum KingfisherOptionsInfoItem: Sendable {
    /// The cache that final images are looked up and stored in; the manager's by default.
    case targetCache(ImageCache)
    /// The cache that unprocessed originals are looked up and stored in; `targetCache` by default.
    case originalCache(ImageCache)
    /// The downloader; the manager's by default.
    case downloader(ImageDownloader)
    /// The transition to a new image in a view; `.none` by default. Applies only to images that come
    /// from no cache, unless `forceTransition` is given too.
    case transition(ImageTransition)
    /// Skips all cache look-ups (also with `onlyFromCache`).
    case forceRefresh
    /// Accepts images in the memory cache only, otherwise loads again, past the disk cache.
    case fromMemoryCacheOrRefresh
    /// Shows cached images with the transition too.
    case forceTransition
    /// Keeps the final image out of the disk cache. An original asked for by `cacheOriginalImage` is
    /// still written.
    case cacheMemoryOnly
    /// Completes only after the disk has been written.
    case waitForCache
    /// Never loads; an image that is not cached is the error `imageNotExisting`.
    case onlyFromCache
    /// Decodes images before they are delivered. Halcyon always does; the item is accepted so that
    /// existing code works.
    case backgroundDecode
    /// The queue on which completions run; `.mainCurrentOrAsync` by default. Progress is always on
    /// the main queue.
    case callbackQueue(CallbackQueue)
    /// Pixels per point of created images; 1 by default. Multiplies the sizes that processors are
    /// given in points.
    case scaleFactor(CGFloat)
    /// Makes a prefetcher load images into memory that the disk cache holds, and keep in memory what
    /// it downloads. Without it a prefetcher leaves what it can on disk, not decoded.
    case alsoPrefetchToMemory
    /// Decodes all frames of an animation at once.
    case preloadAllAnimationData
    /// Changes the request before it is sent.
    case requestModifier(any AsyncImageDownloadRequestModifier)
    /// Decides on redirects.
    case redirectHandler(any ImageDownloadRedirectHandler)
    /// Makes the final image of the bytes; its identifier becomes part of the cache key.
    case processor(any ImageProcessor)
    /// Turns images into bytes for the disk cache and back.
    case cacheSerializer(any CacheSerializer)
    /// Changes the delivered image, never the cached one.
    case imageModifier(any ImageModifier)
    /// Keeps the current content of a view, if any, in place of the placeholder until the new image
    /// arrives.
    case keepCurrentImageWhileLoading
    /// The image a view shows when loading fails, in place of the placeholder; `nil` empties the
    /// view.
    case onFailureImage(KFCrossPlatformImage?)
    /// Cancels the load when its view is given something else to show, unless other callers share
    /// the download. Without it the load goes on, so that its image is cached, but behind all other
    /// downloads queued for the same host. Applies wherever images are shown: image views, buttons,
    /// list cells, `ReusableImageBinding`.
    case cancelWhenSuperseded
    /// Uses only the first frame of an animation.
    case onlyLoadFirstFrame
    /// With a processor: also writes the original bytes to the original cache's disk, without the
    /// location in their metadata.
    case cacheOriginalImage
    /// Keeps the location (GPS in EXIF and XMP) in the metadata of originals cached by
    /// `cacheOriginalImage`. Images cached without a processor keep their bytes in any case.
    case keepPositionInOriginal
    /// Reads the disk cache on the calling thread.
    case loadDiskFileSynchronously
    /// Probes the disk cache on its own thread instead of the caller's.
    case asyncCacheTypeCheck
    /// The options for writing files into the disk cache.
    case diskStoreWriteOptions(Data.WritingOptions)
    /// The lifetime of the image in the memory cache; the cache's own setting by default.
    case memoryCacheExpiration(StorageExpiration)
    /// The effect of a memory cache hit on the expiration; `.cacheTime` by default.
    case memoryCacheAccessExtendingExpiration(ExpirationExtending)
    /// The lifetime of the image and the original in the disk cache; the cache's own setting by
    /// default.
    case diskCacheExpiration(StorageExpiration)
    /// The effect of a disk cache hit on the expiration; `.cacheTime` by default.
    case diskCacheAccessExtendingExpiration(ExpirationExtending)
    /// The queue on which processors run; the decoding pool by default.
    case processingQueue(CallbackQueue)
    /// The file extension in the disk cache, for storing and looking up.
    case forcedCacheFileExtension(String?)
    /// Sources to load instead when loading fails, in order.
    case alternativeSources([Source])
    /// Makes the cache key of network resources without a key of their own, for example so that
    /// URLs with different signatures share an image. `nil`, the default, uses the URL itself.
    /// Direct callers of a cache use its `key(for:)`.
    case cacheKeyNormalizer(CacheKeyNormalizer?)
    /// Decides whether a failed load is tried again.
    case retryStrategy(any RetryStrategy)
    /// Shows a progressive JPEG while it is downloaded, in views.
    case progressiveJPEG(ImageProgressive)
    /// The priority of the download in its host's queue, from 0 to 1; 0.5 by default. A shared
    /// download has the highest priority of its callers.
    case downloadPriority(Float)
    /// The source to load instead when the downloader's `isLowDataModeActive` is true.
    case lowDataMode(Source?)
    /// The limits that are checked before decoding; the downloader's limits (for downloads) or
    /// `DecodingLimits.default` otherwise.
    case decodingLimits(DecodingLimits)
    /// Whether and how the server determines an image's freshness; `.off` by default: an image is
    /// fresh until its `StorageExpiration`. Has no effect on data providers, nor on the program's
    /// own subclasses of caches and downloaders.
    // Indirect, so that lists of other items do not become larger by it.
    indirect case httpCaching(HTTPCaching)
    /// Receives the result of a revalidation: at most once, and only if a stale image was delivered
    /// that is revalidated in the background. Called on the request's callback queue, for views on
    /// the main actor.
    case onHTTPRevalidation(@Sendable (HTTPRevalidation) -> Void)
    /// Receives the upright size of the picture in pixels, at most once and before the completion.
    /// For a download it is the size of the file, known from its first bytes; otherwise that of the
    /// image from the cache or of the image made. So with a processor that reduces the picture, the
    /// first load reports another size than later ones, since the cache no longer knows the file.
    /// Called on the request's callback queue, for views on the main actor.
    case onSize(@Sendable (PixelSize) -> Void)
    /// Receives the events of this request in their order, from its start to its end and the file
    /// writes after that: those that ``KingfisherManager/events`` delivers for all requests. Called
    /// on the request's callback queue, for views on the main actor; always asynchronously if that
    /// is the main queue, so the last events may come after the completion.
    ///
    /// With several images, each has a request of its own. A prefetcher reports only images that it
    /// does not skip as cached. A downloader used by itself has no requests and reports nothing,
    /// nor do live photos.
    case onEvent(@Sendable (ImageEvent) -> Void)
}

public import Foundation

/// What a caller asks for; later items win over earlier ones.
public typealias KingfisherOptionsInfo = [KingfisherOptionsInfoItem]

extension KingfisherOptionsInfo {
    /// No options.
    static let empty: KingfisherOptionsInfo = []
}

/// One thing a caller can ask for. Items without a value switch something on.
public enum KingfisherOptionsInfoItem: Sendable {
    /// The cache that final images are looked up and stored in; the manager's by default.
    case targetCache(ImageCache)
    /// The cache that unprocessed originals are looked up and stored in; `targetCache` by default.
    case originalCache(ImageCache)
    /// The downloader; the manager's by default.
    case downloader(ImageDownloader)
    /// How a view shows a new image; `.none` by default. Only for images that come from no cache,
    /// unless `forceTransition` is given too.
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
    /// Where completions run; `.mainCurrentOrAsync` by default. Progress is always on the main queue.
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
    /// Leaves a view as it is, without the placeholder, until the new image comes, if it shows
    /// anything.
    case keepCurrentImageWhileLoading
    /// What a view shows when loading fails, in place of the placeholder; `nil` empties the view.
    case onFailureImage(KFCrossPlatformImage?)
    /// Cancels the load when its view is given something else to show, unless somebody else waits for the
    /// download. Without it the load goes on, so that its image is cached, but behind all others that wait
    /// for the same host. Counts for everything that shows images: image views, buttons, cells of lists,
    /// `ReusableImageBinding`.
    case cancelWhenSuperseded
    /// Uses only the first frame of an animation.
    case onlyLoadFirstFrame
    /// With a processor: also writes the original bytes to the original cache's disk, without what
    /// their metadata tells of the place where the picture was taken.
    case cacheOriginalImage
    /// Leaves in originals cached by `cacheOriginalImage` what their metadata (GPS in EXIF and XMP)
    /// tells of the place where the picture was taken. What is cached without a processor keeps its
    /// bytes in any case.
    case keepPositionInOriginal
    /// Reads the disk cache on the calling thread.
    case loadDiskFileSynchronously
    /// Probes the disk cache on its own thread instead of the caller's.
    case asyncCacheTypeCheck
    /// How files are written into the disk cache.
    case diskStoreWriteOptions(Data.WritingOptions)
    /// How long the memory cache keeps the image; the cache's own setting by default.
    case memoryCacheExpiration(StorageExpiration)
    /// What a hit in the memory cache does to the expiration; `.cacheTime` by default.
    case memoryCacheAccessExtendingExpiration(ExpirationExtending)
    /// How long the disk cache keeps the image and the original; the cache's own setting by default.
    case diskCacheExpiration(StorageExpiration)
    /// What a hit in the disk cache does to the expiration; `.cacheTime` by default.
    case diskCacheAccessExtendingExpiration(ExpirationExtending)
    /// Where processors run; the decoding pool by default.
    case processingQueue(CallbackQueue)
    /// The file extension in the disk cache, for storing and looking up.
    case forcedCacheFileExtension(String?)
    /// Sources to load instead when loading fails, in order.
    case alternativeSources([Source])
    /// Makes the cache key of network resources that have no key of their own, so that URLs which
    /// differ in a signature, say, share an image; `nil`, the default, takes the URL itself. Whoever
    /// asks a cache directly uses its `key(for:)`.
    case cacheKeyNormalizer(CacheKeyNormalizer?)
    /// Decides whether a failed load is tried again.
    case retryStrategy(any RetryStrategy)
    /// Shows a progressive JPEG while it is downloaded, in views.
    case progressiveJPEG(ImageProgressive)
    /// How urgent the download is among those that wait for the same host, from 0 to 1; 0.5 by
    /// default. A download that several callers share is as urgent as the most urgent of them.
    case downloadPriority(Float)
    /// Loaded instead when the downloader's `isLowDataModeActive` says so.
    case lowDataMode(Source?)
    /// The limits that are checked before decoding; the downloader's limits (for downloads) or
    /// `DecodingLimits.default` otherwise.
    case decodingLimits(DecodingLimits)
    /// Whether and how the server says how long an image is good for; `.off` by default: an image is good
    /// until its `StorageExpiration`. Nothing is changed for data providers, nor for caches and downloaders
    /// of classes of the program's own.
    // Indirect, so that lists of other items do not become larger by it.
    indirect case httpCaching(HTTPCaching)
    /// Told what a revalidation has found, at most once and only when a stale image was delivered that is
    /// revalidated in the background. Called on the request's callback queue, for views on the main
    /// actor.
    case onHTTPRevalidation(@Sendable (HTTPRevalidation) -> Void)
    /// Told the size of the picture in pixels, at most once and before the completion: as soon as the
    /// first bytes of a download tell the size of the file, upright, else that of the image from the cache, or
    /// of the one that was made: of a picture that a processor makes smaller the first load tells another size
    /// than later ones, as the cache does not know the file any more. Called on the request's callback queue, for views on the main actor.
    case onSize(@Sendable (PixelSize) -> Void)
    /// Told what happens to this request, from its start to its end and the writing of files behind that, in
    /// the order of the events: what ``KingfisherManager/events`` tells of all requests. Called on the
    /// request's callback queue, for views on the main actor, each time asynchronously where that is the main
    /// queue; so the last ones may come after the completion.
    ///
    /// With several images each has a request of its own. A prefetcher tells it of those that it does not pass
    /// over because they are cached. A downloader that is used by itself has no requests and tells nothing, nor
    /// do live photos.
    case onEvent(@Sendable (ImageEvent) -> Void)
}

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
        var cache: ImageCache
        var downloader: ImageDownloader
        var defaultOptions = KingfisherOptionsInfo.empty
    }

    private let state: Mutex<State>

    /// Makes a manager with a downloader and a cache of its own.
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

    /// Options of every request, before the request's own, which win.
    public var defaultOptions: KingfisherOptionsInfo {
        get { state.withLock { $0.defaultOptions } }
        set { state.withLock { $0.defaultOptions = newValue } }
    }

    /// The options of a request: this manager's parts, its default options, then `options`.
    func parsedOptions(_ options: KingfisherOptionsInfo?) -> KingfisherParsedOptionsInfo {
        let (cache, downloader, defaults) = state.withLock {
            ($0.cache, $0.downloader, $0.defaultOptions)
        }
        return KingfisherParsedOptionsInfo(
            [defaults, options ?? []], downloader: downloader, targetCache: cache)
    }
}

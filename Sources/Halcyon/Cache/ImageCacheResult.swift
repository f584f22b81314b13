/// The result of a look-up in the cache. A miss is not an error.
public enum ImageCacheResult: Sendable {
    /// Found in the disk cache (and put into the memory cache).
    case disk(KFCrossPlatformImage)
    /// Found in the memory cache.
    case memory(KFCrossPlatformImage)
    /// Not found.
    case none

    /// The image that was found.
    public var image: KFCrossPlatformImage? {
        switch self {
        case .disk(let image), .memory(let image): image
        case .none: nil
        }
    }

    /// Where the image was found.
    public var cacheType: CacheType {
        switch self {
        case .disk: .disk
        case .memory: .memory
        case .none: .none
        }
    }
}

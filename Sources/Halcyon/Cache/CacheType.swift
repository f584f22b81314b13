/// Where an image was found.
public enum CacheType: Sendable {
    /// In no cache.
    case none
    /// In the memory cache.
    case memory
    /// In the disk cache.
    case disk

    /// Whether the image was found in a cache.
    public var cached: Bool { self != .none }
}

/// The outcome of storing an image.
public struct CacheStoreResult: Sendable {
    /// Storing in memory cannot fail.
    public let memoryCacheResult: Result<(), Never>
    /// Also a success when nothing was to be written to disk. An image that cannot be rendered is
    /// in neither cache; that is reported here, as `cannotSerializeImage`.
    public let diskCacheResult: Result<(), KingfisherError>

    /// Success in memory, and `diskCacheResult`.
    init(diskCacheResult: Result<(), KingfisherError> = .success(())) {
        memoryCacheResult = .success(())
        self.diskCacheResult = diskCacheResult
    }

    /// A failure of the disk, which is logged if nobody else may hear of it.
    init(_ failure: KingfisherError, logging: Bool) {
        if logging { HalcyonLog.warn(of: failure) }
        self.init(diskCacheResult: .failure(failure))
    }
}

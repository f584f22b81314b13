import HalcyonWork

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

    /// The name in what programs print and in labels of metrics.
    package var name: String {
        switch self {
        case .none: "none"
        case .memory: "memory"
        case .disk: "disk"
        }
    }
}

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

/// The outcome of storing an image.
public struct CacheStoreResult: Sendable {
    /// Storing in memory cannot fail.
    public let memoryCacheResult: Result<(), Never>
    /// Also a success when nothing was to be written to disk. An image that cannot be rendered is
    /// in neither cache; that is reported here, as `cannotSerializeImage`.
    public let diskCacheResult: Result<(), KingfisherError>

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

extension ImageCache {
    /// Whether the image is cached. Looks at the disk on the calling thread.
    public func isCached(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> Bool {
        imageCachedType(
            forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension
        ).cached
    }

    /// Reports where the image is cached: before this returns for memory, otherwise afterwards, by looking
    /// at the disk on another thread.
    public func imageCachedTypeAsync(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil, callbackQueue: CallbackQueue = .mainCurrentOrAsync,
        completionHandler: @escaping @Sendable (CacheType) -> Void
    ) {
        if !isSubclass, memoryStorage.isCached(forKey: key.computedKey(with: identifier)) {
            callbackQueue.execute { completionHandler(.memory) }
            return
        }
        callbackQueue.deliver(to: completionHandler) { hand in
            Task.immediate {
                hand(
                    await self.imageCachedTypeAsync(
                        forKey: key, processorIdentifier: identifier,
                        forcedExtension: forcedExtension))
            }
        }
    }

    /// Where the image is cached, by the method that a subclass may override.
    func cachedType(_ key: ImageKey, onCallingThread: Bool = false) async -> CacheType {
        onCallingThread
            ? imageCachedType(
                forKey: key.source, processorIdentifier: key.processor,
                forcedExtension: key.forcedExtension)
            : await imageCachedTypeAsync(
                forKey: key.source, processorIdentifier: key.processor,
                forcedExtension: key.forcedExtension)
    }

    /// Where the image is cached.
    public func imageCachedTypeAsync(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) async -> CacheType {
        if isSubclass {
            return await DiskLane.reading.run {
                self.imageCachedType(
                    forKey: key, processorIdentifier: identifier,
                    forcedExtension: forcedExtension)
            }
        }
        let key = key.computedKey(with: identifier)
        if memoryStorage.isCached(forKey: key) { return .memory }
        let name = diskStorage.cacheFileName(forKey: key, forcedExtension: forcedExtension)
        await operations.pending(name)?.value
        return await DiskLane.reading.run { [diskStorage] in
            diskStorage.files.contains(name) ? .disk : .none
        }
    }
}

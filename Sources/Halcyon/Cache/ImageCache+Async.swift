public import Foundation
import HalcyonWork

extension ImageCache {
    /// Stores `image` in memory and, unless `toDisk` is off, on disk; returns when that is done.
    /// - Throws: `KingfisherError` when the disk could not be written.
    public func store(
        _ image: KFCrossPlatformImage, original: Data? = nil, forKey key: String,
        options: KingfisherParsedOptionsInfo, toDisk: Bool = true
    ) async throws {
        try await storeAsync(
            image, original: original, forKey: key, options: options, toDisk: toDisk
        ).diskCacheResult.get()
    }

    /// Stores `image` as above, with the options given one by one.
    /// - Throws: `KingfisherError` when the disk could not be written.
    public func store(
        _ image: KFCrossPlatformImage, original: Data? = nil, forKey key: String,
        processorIdentifier identifier: String = "", forcedExtension: String? = nil,
        cacheSerializer serializer: any CacheSerializer = DefaultCacheSerializer.default,
        toDisk: Bool = true
    ) async throws {
        let options = Self.storeOptions(
            processorIdentifier: identifier, forcedExtension: forcedExtension,
            serializer: serializer)
        try await storeAsync(
            image, original: original, forKey: key, options: options, toDisk: toDisk
        ).diskCacheResult.get()
    }

    /// Writes `data` to disk and returns when that is done.
    /// - Throws: `KingfisherError` when the disk could not be written.
    public func storeToDisk(
        _ data: Data, forKey key: String, processorIdentifier identifier: String = "",
        forcedExtension: String? = nil, expiration: StorageExpiration? = nil
    ) async throws {
        let key = ImageKey(key, processor: identifier, forcedExtension: forcedExtension)
        try await startWriting(data, for: key, expiration: expiration)
            .value.diskCacheResult.get()
    }

    /// Removes the image, if it is there, and returns when that is done.
    /// - Throws: The error of the file system when the file could not be removed.
    public func removeImage(
        forKey key: String, processorIdentifier identifier: String = "",
        forcedExtension: String? = nil, fromMemory: Bool = true, fromDisk: Bool = true
    ) async throws {
        try await startRemoving(
            forComputedKey: key.computedKey(with: identifier), forcedExtension: forcedExtension,
            fromMemory: fromMemory, fromDisk: fromDisk
        )?.value.get()
    }

    /// Removes an image and all that processors have made of it, whatever the processors, and returns when that
    /// is done.
    ///
    /// From disk as far as the index knows what its files are: not of files that were found when a lost index
    /// was made again. From the storage that machines share, what the processors have made that this cache
    /// knows. In memory a key that begins with this one and `@` counts as one of them.
    /// - Throws: `KingfisherError`, 3004, when the index cannot be read; the error of the file system when the
    ///   file of the original could not be removed.
    public func removeImages(
        forKey key: String, forcedExtension: String? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        try await startRemovingVariants(
            of: key, forcedExtension: forcedExtension, fromMemory: fromMemory, fromDisk: fromDisk
        )?.value.get()
    }

    /// Removes the image of a source and all that processors have made of it; see the form for keys.
    ///
    /// - Parameter options: What was said of its key: `cacheKeyNormalizer` and `forcedCacheFileExtension`.
    public func removeImages(
        of source: Source, options: KingfisherOptionsInfo? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        let options = KingfisherParsedOptionsInfo(options)
        try await removeImages(
            forKey: options.cacheKey(of: source), forcedExtension: options.forcedExtension,
            fromMemory: fromMemory, fromDisk: fromDisk)
    }

    /// Removes the image of a resource and all that processors have made of it; see the form for keys.
    public func removeImages(
        of resource: any Resource, options: KingfisherOptionsInfo? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        try await removeImages(
            of: resource.convertToSource(), options: options, fromMemory: fromMemory,
            fromDisk: fromDisk)
    }

    /// Removes an image and all that processors have made of it from memory before this returns, and from disk
    /// afterwards. Failures of the disk are not reported; the asynchronous form throws them.
    public func removeImages(
        forKey key: String, forcedExtension: String? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true, callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable () -> Void)?
    ) {
        let removal = startRemovingVariants(
            of: key, forcedExtension: forcedExtension, fromMemory: fromMemory, fromDisk: fromDisk)
        guard let completionHandler else { return }
        Task {
            _ = await removal?.value
            callbackQueue.execute(completionHandler)
        }
    }

    /// Looks the image up in memory and then on disk; what is found on disk is put into memory.
    public func retrieveImage(
        forKey key: String, options: KingfisherParsedOptionsInfo
    ) async throws -> ImageCacheResult {
        try await lookup(ImageKey(key, options), options: options, isCurrent: nil)
    }

    /// Looks the image up as above.
    public func retrieveImage(
        forKey key: String, options: KingfisherOptionsInfo? = nil
    ) async throws -> ImageCacheResult {
        try await retrieveImage(forKey: key, options: KingfisherParsedOptionsInfo(options))
    }

    /// The image on disk, if any; it is not put into memory.
    public func retrieveImageInDiskCache(
        forKey key: String, options: KingfisherOptionsInfo? = nil
    ) async throws -> KFCrossPlatformImage? {
        let options = KingfisherParsedOptionsInfo(options)
        return try await diskImage(ImageKey(key, options), options: options, isCurrent: nil)
    }

    /// Removes all images from memory and disk.
    public func clearCache() async {
        clearMemoryCache()
        await clearDiskCache()
    }

    /// Removes all images from disk.
    public func clearDiskCache() async {
        await startClearingDisk().value
    }

    /// Removes expired images from memory and disk.
    public func cleanExpiredCache() async {
        cleanExpiredMemoryCache()
        await cleanExpiredDiskCache()
    }

    /// Removes expired images from disk and, above the size limit, those used longest ago.
    public func cleanExpiredDiskCache() async {
        await cleanDisk()
    }

    /// Bytes of all files.
    public var diskStorageSize: UInt {
        get async throws { try await diskSize().get() }
    }

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

    /// Reports where the image is cached: at once for memory, otherwise after looking at the disk
    /// on another thread.
    public func imageCachedTypeAsync(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil, callbackQueue: CallbackQueue = .mainCurrentOrAsync,
        completionHandler: @escaping @Sendable (CacheType) -> Void
    ) {
        Task.immediate {
            let type = await self.imageCachedTypeAsync(
                forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension)
            callbackQueue.execute { completionHandler(type) }
        }
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
            diskStorage.isCached(named: name) ? .disk : .none
        }
    }
}

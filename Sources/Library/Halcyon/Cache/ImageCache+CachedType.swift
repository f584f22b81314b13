import HalcyonWork

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

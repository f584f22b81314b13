import Foundation

extension ImageRequest {
    /// Puts a new image into the caches; returns when the request may be delivered: at once after
    /// the memory cache has it, or with `waitForCache` when the disk has been written. What cannot be
    /// written is logged and fails nothing.
    ///
    /// Of requests that share one download (and so its `stage`), the first of those with equal wishes
    /// writes to the disk for all.
    func store(_ image: Image, original: Data?, sharedBy stage: ImageProcessingStage? = nil) async {
        targetCache.storeInMemory(image, forKey: key, options: options)
        let writing =
            stage?.stores.join(StoreIdentity(self)) { startWriting(image, original: original) }
            ?? startWriting(image, original: original)
        if options.waitForCache {
            _ = await writing.value
        }
    }

    /// Writes the bytes of an image to the target cache's disk; returns when they are there.
    ///
    /// Of requests that share one download (and so its `stage`), the first writes for all.
    func storeBytes(_ bytes: Data, sharedBy stage: ImageProcessingStage? = nil)
        async throws(KingfisherError)
    {
        let start: () -> Task<CacheStoreResult, Never> = {
            targetCache.startWriting(
                bytes, forComputedKey: key.computedKey(with: options.processor.identifier),
                expiration: options.diskCacheExpiration,
                writeOptions: options.diskStoreWriteOptions,
                forcedExtension: options.forcedExtension)
        }
        let writing = stage?.stores.join(StoreIdentity(self), start: start) ?? start()
        try await writing.value.diskCacheResult.get()
    }

    private func startWriting(_ image: Image, original: Data?) -> Task<CacheStoreResult, Never> {
        Task {
            var result = CacheStoreResult()
            if !options.cacheMemoryOnly {
                result = await targetCache.startDiskStore(
                    image, original: original, forKey: key, options: options
                ).value
                report(result)
            }
            if let original, options.cacheOriginalImage, hasProcessor {
                report(await originalCache.storeOriginal(original, forKey: key, options: options))
            }
            return result
        }
    }

    private func report(_ result: CacheStoreResult) {
        if case .failure(let error) = result.diskCacheResult {
            HalcyonLog.warn(of: error)
        }
    }
}

/// What makes two stores of one download the same.
struct StoreIdentity: Hashable, Sendable {
    private let key: String
    private let processor: String
    private let targetCache: ObjectIdentifier
    private let originalCache: ObjectIdentifier
    private let memoryOnly: Bool
    private let withOriginal: Bool
    private let withPosition: Bool
    private let forcedExtension: String?
    private let bytesOnly: Bool

    init(_ request: ImageRequest) {
        key = request.key
        processor = request.options.processor.identifier
        targetCache = ObjectIdentifier(request.targetCache)
        originalCache = ObjectIdentifier(request.originalCache)
        memoryOnly = request.options.cacheMemoryOnly
        withOriginal = request.options.cacheOriginalImage
        withPosition = request.options.keepPositionInOriginal
        forcedExtension = request.options.forcedExtension
        bytesOnly = request.storesBytesOnly
    }
}

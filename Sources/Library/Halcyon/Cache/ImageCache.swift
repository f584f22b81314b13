public import Foundation
import HalcyonWork
import Synchronization

/// A memory and a disk cache for images.
///
/// Images are cached under their key, to which the identifier of a processor is added. All members may
/// be used from any thread. Hits in memory are answered inline; the disk is read and written on threads
/// of its own, except where a member says otherwise. Files of one image change in the order of the
/// calls, and reading it waits for changes asked for before. Expired files are removed a minute after
/// the cache was made and then every hour; the size limit holds after each store.
///
/// ```swift
/// let cache = try ImageCache(name: "avatars", cacheDirectoryURL: folder)
/// cache.memoryStorage.config.totalCostLimit = 64 << 20
/// cache.diskStorage.config.sizeLimit = 500 << 20
///
/// try await cache.store(avatar, forKey: "user-42")
/// let found = try await cache.retrieveImage(forKey: "user-42")
/// print(found.cacheType, found.image?.pixelSize ?? "nothing")
/// ```
open class ImageCache: @unchecked Sendable {
    // Unchecked because subclasses may have any state; that of this class is constant and Sendable.

    /// The default cache; its name is "default".
    public static let `default` = ImageCache(name: "default")

    /// The memory cache.
    public let memoryStorage: MemoryStorage.Backend<KFCrossPlatformImage>
    /// The disk cache.
    public let diskStorage: DiskStorage.Backend<Data>

    let operations = DiskOperations()
    /// Disk reads in progress; without a result if no longer wanted.
    let lookups = SharedWork<LookupKey, Result<ImageCacheResult, KingfisherError>?>()
    /// Originals from which processed images are being made; also without a result if no longer
    /// wanted.
    let originals = SharedWork<LookupKey, Result<ImageMaterial?, KingfisherError>?> {
        if case .some(.success(.some)) = $0 { true } else { false }
    }
    let responses: CachedResponses
    /// The level shared with other machines; `nil` if there is none.
    let shared: SharedLevel?
    private let cleaning = Mutex<RepeatingTimer?>(nil)

    /// Returns the cache's folder for a parent folder and the cache's name.
    public typealias DiskCachePathClosure = @Sendable (URL, String) -> URL

    /// Creates a cache with the given storages.
    public init(
        memoryStorage: MemoryStorage.Backend<KFCrossPlatformImage>,
        diskStorage: DiskStorage.Backend<Data>
    ) {
        self.memoryStorage = memoryStorage
        self.diskStorage = diskStorage
        responses = CachedResponses(diskStorage.files)
        shared = nil
        beginCleaning()
    }

    /// Creates a cache with the given storages; see ``init(name:shared:)``.
    public init(
        memoryStorage: MemoryStorage.Backend<KFCrossPlatformImage>,
        diskStorage: DiskStorage.Backend<Data>, shared: any SharedImageStorage
    ) {
        self.memoryStorage = memoryStorage
        self.diskStorage = diskStorage
        responses = CachedResponses(diskStorage.files)
        self.shared = SharedLevel(shared, cacheName: diskStorage.config.name)
        beginCleaning()
    }

    private func beginCleaning() {
        cleaning.withLock {
            $0 = RepeatingTimer(after: 60, every: 3600) { [weak self] in
                self?.cleanExpiredDiskCache()
            }
        }
    }

    // MARK: Storing

    /// Stores `image` in memory before this returns. Unless `toDisk` is off, then writes the
    /// serializer's data for it and `original` to disk. The handler is called after that; before
    /// this returns if a rendered image is stored in memory only.
    ///
    /// An image that is not rendered is rendered first, on another thread. If that fails it is not
    /// cached; the result then has error 3008 for the disk.
    open func store(
        _ image: KFCrossPlatformImage, original: Data? = nil, forKey key: String,
        options: KingfisherParsedOptionsInfo, toDisk: Bool = true,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
    ) {
        let isImmediate = image.isRendered && !toDisk
        let storing = startStore(
            image, original: original, forKey: key, options: options, toDisk: toDisk)
        options.callbackQueue.deliver(
            to: completionHandler, atOnceIf: { _ in isImmediate }, of: storing.whenGiven)
    }

    /// Stores `image` as above, with the options given one by one.
    open func store(
        _ image: KFCrossPlatformImage, original: Data? = nil, forKey key: String,
        processorIdentifier identifier: String = "", forcedExtension: String? = nil,
        cacheSerializer serializer: any CacheSerializer = DefaultCacheSerializer.default,
        toDisk: Bool = true, callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
    ) {
        var options = Self.storeOptions(
            processorIdentifier: identifier, forcedExtension: forcedExtension,
            serializer: serializer)
        options.callbackQueue = callbackQueue
        store(
            image, original: original, forKey: key, options: options, toDisk: toDisk,
            completionHandler: completionHandler)
    }

    /// Writes `data` to disk, replacing the key's previous file.
    open func storeToDisk(
        _ data: Data, forKey key: String, processorIdentifier identifier: String = "",
        forcedExtension: String? = nil, expiration: StorageExpiration? = nil,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)? = nil
    ) {
        let key = ImageKey(key, processor: identifier, forcedExtension: forcedExtension)
        let writing = startWriting(data, for: key, expiration: expiration, stated: .program)
        callbackQueue.deliver(to: completionHandler, of: writing.whenGiven)
    }

    // MARK: Removing

    /// Removes the image from memory before this returns, and from disk afterwards. Failures of the
    /// disk are not reported; the asynchronous form throws them.
    open func removeImage(
        forKey key: String, processorIdentifier identifier: String = "",
        forcedExtension: String? = nil, fromMemory: Bool = true, fromDisk: Bool = true,
        callbackQueue: CallbackQueue = .untouch, completionHandler: (@Sendable () -> Void)? = nil
    ) {
        let removal = startRemoving(
            forComputedKey: key.computedKey(with: identifier), forcedExtension: forcedExtension,
            fromMemory: fromMemory, fromDisk: fromDisk)
        guard let completionHandler else { return }
        guard let removal else {
            callbackQueue.execute(completionHandler)
            return
        }
        callbackQueue.deliver(to: { _ in completionHandler() }) { hand in
            removal.whenGiven(hand)
        }
    }

    // MARK: Retrieving

    /// Looks up the image in memory and then on disk; an image from disk is put into memory.
    ///
    /// A miss is the success `none`. For a memory hit, and if the options read the disk on the
    /// calling thread or not at all, the handler is called before this returns (through
    /// `callbackQueue`); otherwise afterwards. The options' image modifier is not applied.
    open func retrieveImage(
        forKey key: String, options: KingfisherParsedOptionsInfo,
        callbackQueue: CallbackQueue = .mainCurrentOrAsync,
        completionHandler: (@Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
    ) {
        guard let completionHandler else { return }
        if let image = retrieveImageInMemoryCache(forKey: key, options: options) {
            callbackQueue.execute { completionHandler(.success(.memory(image))) }
            return
        }
        let isImmediate =
            options.fromMemoryCacheOrRefresh
            || options.loadDiskFileSynchronously && shared == nil
        callbackQueue.deliver(to: completionHandler, atOnceIf: { _ in isImmediate }) { hand in
            Task.immediate {
                let key = ImageKey(key, options)
                hand(
                    await Result { () async throws(KingfisherError) in
                        try await self.lookup(key, options: options, isCurrent: nil)
                    })
            }
        }
    }

    /// Looks up the image as above.
    open func retrieveImage(
        forKey key: String, options: KingfisherOptionsInfo? = nil,
        callbackQueue: CallbackQueue = .mainCurrentOrAsync,
        completionHandler: (@Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
    ) {
        retrieveImage(
            forKey: key, options: KingfisherParsedOptionsInfo(options),
            callbackQueue: callbackQueue, completionHandler: completionHandler)
    }

    /// Returns the image in memory, if any.
    open func retrieveImageInMemoryCache(
        forKey key: String, options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        memoryImage(
            forKey: key, processorIdentifier: options.processor.identifier, options: options)
    }

    /// Returns the image in memory, if any.
    open func retrieveImageInMemoryCache(
        forKey key: String, options: KingfisherOptionsInfo? = nil
    ) -> KFCrossPlatformImage? {
        retrieveImageInMemoryCache(
            forKey: key, options: options.map { KingfisherParsedOptionsInfo($0) } ?? .standard)
    }

    /// Reads the image on disk, if any; it is not put into memory.
    ///
    /// The handler is called after this has returned, unless the options read the disk on the
    /// calling thread.
    open func retrieveImageInDiskCache(
        forKey key: String, options: KingfisherOptionsInfo? = nil,
        callbackQueue: CallbackQueue = .untouch,
        completionHandler:
            @escaping @Sendable (Result<KFCrossPlatformImage?, KingfisherError>) -> Void
    ) {
        let options = KingfisherParsedOptionsInfo(options)
        let isImmediate = options.loadDiskFileSynchronously
        callbackQueue.deliver(to: completionHandler, atOnceIf: { _ in isImmediate }) { hand in
            Task.immediate {
                let key = ImageKey(key, options)
                hand(
                    await Result { () async throws(KingfisherError) in
                        try await self.diskImage(key, options: options, isCurrent: nil)
                    })
            }
        }
    }

    // MARK: Clearing

    /// Removes all images from memory and disk; the handler is called on the main queue.
    public func clearCache(completion handler: (@Sendable () -> Void)? = nil) {
        clearMemoryCache()
        clearDiskCache(completion: handler)
    }

    /// Removes all images from memory. Their memory goes back to the system a second later.
    public func clearMemoryCache() {
        memoryStorage.removeAll()
        HeapTrim.plan()
    }

    /// Removes all images from disk; the handler is called on the main queue.
    open func clearDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
        let clearing = startClearingDisk()
        guard let handler else { return }
        clearing.whenGiven { DispatchQueue.main.async(execute: handler) }
    }

    /// Removes expired images from memory and disk; the handler is called on the main queue.
    open func cleanExpiredCache(completion handler: (@Sendable () -> Void)? = nil) {
        cleanExpiredMemoryCache()
        cleanExpiredDiskCache(completion: handler)
    }

    /// Removes expired images from memory.
    open func cleanExpiredMemoryCache() {
        memoryStorage.removeExpired()
    }

    /// Removes expired images from disk and, above the size limit, the least recently used ones.
    /// Posts `KingfisherDidCleanDiskCache` if files were removed; then calls the handler on the
    /// main queue, also after a failure.
    open func cleanExpiredDiskCache(completion handler: (@Sendable () -> Void)? = nil) {
        Task {
            await self.cleanDisk()
            guard let handler else { return }
            DispatchQueue.main.async(execute: handler)
        }
    }

    // MARK: Looking

    /// Returns the location of the image in the cache. Reads the disk on the calling thread. An
    /// image from an overridden `retrieveImageInMemoryCache(forKey:options:)` counts as cached in
    /// memory.
    open func imageCachedType(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> CacheType {
        if isSubclass, hasInMemoryByOverride(key, processorIdentifier: identifier) {
            return .memory
        }
        let key = key.computedKey(with: identifier)
        if memoryStorage.isCached(forKey: key) { return .memory }
        return diskStorage.isCached(forKey: key, forcedExtension: forcedExtension) ? .disk : .none
    }

    /// Returns the name of the image's file.
    open func hash(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> String {
        diskStorage.cacheFileName(
            forKey: key.computedKey(with: identifier), forcedExtension: forcedExtension)
    }

    /// Returns the path of the image's file, whether it exists or not.
    open func cachePath(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> String {
        diskStorage.cacheFileURL(
            forKey: key.computedKey(with: identifier), forcedExtension: forcedExtension
        ).path
    }

    /// Returns the image's file, if it is on disk and not expired. Reads the disk on the calling
    /// thread.
    open func cacheFileURLIfOnDisk(
        forKey key: String,
        processorIdentifier identifier: String = DefaultImageProcessor.default.identifier,
        forcedExtension: String? = nil
    ) -> URL? {
        let key = key.computedKey(with: identifier)
        guard diskStorage.isCached(forKey: key, forcedExtension: forcedExtension) else {
            return nil
        }
        return diskStorage.cacheFileURL(forKey: key, forcedExtension: forcedExtension)
    }

    /// Reports the size of all files in bytes, on the main queue.
    open func calculateDiskStorageSize(
        completion handler: @escaping @Sendable (Result<UInt, KingfisherError>) -> Void
    ) {
        Task {
            let result = await self.diskSize()
            DispatchQueue.main.async { handler(result) }
        }
    }

    /// The memory used by cached images, in bytes.
    open var memoryStorageCacheCost: Int { memoryStorage.totalCacheCost() }

    // MARK: The same, awaited

    /// Stores `image` in memory and, unless `toDisk` is off, on disk; returns afterwards.
    /// - Throws: `KingfisherError` when the disk could not be written.
    open func store(
        _ image: KFCrossPlatformImage, original: Data? = nil, forKey key: String,
        options: KingfisherParsedOptionsInfo, toDisk: Bool = true
    ) async throws {
        var options = options
        options.callbackQueue = .untouch
        let result: CacheStoreResult = await handedOver { [options] hand in
            store(
                image, original: original, forKey: key, options: options, toDisk: toDisk,
                completionHandler: hand)
        }
        try result.diskCacheResult.get()
    }

    /// Stores `image` as above, with the options given one by one.
    /// - Throws: `KingfisherError` when the disk could not be written.
    open func store(
        _ image: KFCrossPlatformImage, original: Data? = nil, forKey key: String,
        processorIdentifier identifier: String = "", forcedExtension: String? = nil,
        cacheSerializer serializer: any CacheSerializer = DefaultCacheSerializer.default,
        toDisk: Bool = true
    ) async throws {
        let options = Self.storeOptions(
            processorIdentifier: identifier, forcedExtension: forcedExtension,
            serializer: serializer)
        try await store(
            image, original: original, forKey: key, options: options, toDisk: toDisk)
    }

    /// Writes `data` to disk and returns afterwards.
    /// - Throws: `KingfisherError` when the disk could not be written.
    open func storeToDisk(
        _ data: Data, forKey key: String, processorIdentifier identifier: String = "",
        forcedExtension: String? = nil, expiration: StorageExpiration? = nil
    ) async throws {
        // By the method that a subclass may override, here and below.
        let result: CacheStoreResult = await handedOver { hand in
            storeToDisk(
                data, forKey: key, processorIdentifier: identifier,
                forcedExtension: forcedExtension, expiration: expiration,
                callbackQueue: .untouch, completionHandler: hand)
        }
        try result.diskCacheResult.get()
    }

    /// Removes the image, if it exists, and returns afterwards.
    /// - Throws: The error of the file system when the file could not be removed.
    open func removeImage(
        forKey key: String, processorIdentifier identifier: String = "",
        forcedExtension: String? = nil, fromMemory: Bool = true, fromDisk: Bool = true
    ) async throws {
        try await startRemoving(
            forComputedKey: key.computedKey(with: identifier), forcedExtension: forcedExtension,
            fromMemory: fromMemory, fromDisk: fromDisk
        )?.value.get()
    }

    /// Looks up the image in memory and then on disk; an image from disk is put into memory.
    open func retrieveImage(
        forKey key: String, options: KingfisherParsedOptionsInfo
    ) async throws -> ImageCacheResult {
        let key = ImageKey(key, options)
        return isSubclass
            ? try await overriddenLookup(key, options: options, isCurrent: nil)
            : try await lookup(key, options: options, isCurrent: nil)
    }

    /// Looks up the image as above.
    open func retrieveImage(
        forKey key: String, options: KingfisherOptionsInfo? = nil
    ) async throws -> ImageCacheResult {
        try await retrieveImage(forKey: key, options: KingfisherParsedOptionsInfo(options))
    }

    /// Reads the image on disk, if any; it is not put into memory.
    open func retrieveImageInDiskCache(
        forKey key: String, options: KingfisherOptionsInfo? = nil
    ) async throws -> KFCrossPlatformImage? {
        let found: Result<KFCrossPlatformImage?, KingfisherError> = await handedOver { hand in
            retrieveImageInDiskCache(
                forKey: key, options: options, callbackQueue: .untouch, completionHandler: hand)
        }
        return try found.get()
    }

    /// Removes all images from memory and disk.
    open func clearCache() async {
        clearMemoryCache()
        await clearDiskCache()
    }

    /// Removes all images from disk.
    open func clearDiskCache() async {
        await startClearingDisk().value
    }

    /// Removes expired images from memory and disk.
    open func cleanExpiredCache() async {
        cleanExpiredMemoryCache()
        await cleanExpiredDiskCache()
    }

    /// Removes expired images from disk and, above the size limit, the least recently used ones.
    open func cleanExpiredDiskCache() async {
        await cleanDisk()
    }

    /// The size of all files, in bytes.
    open var diskStorageSize: UInt {
        get async throws { try await diskSize().get() }
    }
}

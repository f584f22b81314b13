import Foundation
import Halcyon
import HalcyonTestKit
import HalcyonWork
import Testing

/// Subclasses of the downloader and of the cache, as anybody outside of the library writes them: what
/// they override is what a manager calls.
@Suite struct SubclassTests {
    private let origin: OriginServer
    private let folder: TemporaryDirectory
    private let png = PNGFixture.data(.gradient(width: 64, height: 48))
    private var url: URL { origin.url("/photo.png") }
    private let image: Image

    init() async throws {
        origin = try await OriginServer.start(files: ["/photo.png": png])
        folder = try TemporaryDirectory()
        image = try #require(Image(data: png))
    }

    private func watchedCache() throws -> (WatchedCache, KingfisherManager) {
        let cache = try WatchedCache(name: "watched", cacheDirectoryURL: folder.url)
        return (cache, KingfisherManager(downloader: .patient(), cache: cache))
    }

    private func redirecting() throws -> (RedirectingDownloader, ImageCache, KingfisherManager) {
        let downloader = RedirectingDownloader(name: "test", to: url)
        let cache = try ImageCache(name: "plain", cacheDirectoryURL: folder.url)
        return (downloader, cache, KingfisherManager(downloader: downloader, cache: cache))
    }

    @Test func anOverriddenDownloadIsCalled() async throws {
        let (downloader, cache, manager) = try redirecting()
        let missing = origin.url("/missing.png")
        let result = try await manager.retrieveImage(with: missing, options: [.waitForCache])
        #expect(downloader.asked.events == [missing])
        #expect(result.image.pixelSize == PixelSize(width: 64, height: 48))
        #expect(result.cacheType == .none && result.data() == png)
        #expect(result.metrics?.httpStatusCode == 200 && cache.isCached(forKey: missing.cacheKey))
    }

    @Test func progressAndCancellationPassThroughAnOverriddenDownload() async throws {
        let gate = Gate()
        origin.route("/photo.png", OriginResponse.ok(png).with(.wait(.gate(gate))))
        let (_, _, manager) = try redirecting()
        let progress = Recorder<Int64>()
        let ends = Recorder<Int?>()
        func start(_ name: String) -> DownloadTask? {
            manager.retrieveImage(
                with: origin.url(name), options: [.callbackQueue(.untouch)],
                progressBlock: { received, _ in progress.record(received) }
            ) { ends.record($0.errorCode) }
        }
        let first = try #require(start("/a"))
        _ = start("/b")
        #expect(first.isInitialized && first.sessionTask != nil && first.cancelToken == 0)
        first.cancel()
        #expect(await ends.waitFor(count: 1) == [1003])
        gate.open()
        #expect(await ends.waitFor(count: 2) == [1003, nil])
        // It may come in several parts.
        await progress.wait { $0.last == Int64(png.count) }
        #expect(origin.requestCount == 1)
    }

    @Test func overriddenLookUpsAndStoresAreCalled() async throws {
        let (cache, manager) = try watchedCache()
        func retrieve() async throws -> CacheType {
            try await manager.retrieveImage(with: url, options: [.waitForCache]).cacheType
        }
        #expect(try await retrieve() == .none && cache.calls.events == ["type", "store"])
        for type in [CacheType.memory, .disk] {
            cache.calls.removeAll()
            #expect(try await retrieve() == type && cache.calls.events == ["type", "retrieve"])
            cache.clearMemoryCache()
        }
    }

    @Test func theCallbackFormAsksAnOverriddenTypeFirst() async throws {
        let (cache, manager) = try watchedCache()
        let code: Int? = await handedOver { hand in
            manager.retrieveImage(with: url, options: [.callbackQueue(.untouch), .waitForCache]) {
                hand($0.errorCode)
            }
        }
        #expect(code == nil && cache.calls.events == ["type", "store"])
    }

    @Test(arguments: [false, true]) func whatAnOverriddenTypeDeniesIsLoadedAnew(
        isInMemory: Bool
    ) async throws {
        let cache = try DenyingCache(name: "denying", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: .patient(), cache: cache)
        for count in 1...2 {
            let result = try await manager.retrieveImage(with: url, options: [.waitForCache])
            #expect(result.cacheType == .none && origin.requestCount == count)
            if !isInMemory { cache.clearMemoryCache() }
        }
    }

    @Test(arguments: [false, true]) func aMemoryHitOfASubclassIsItsOverridesAnswer(
        withHTTPCaching: Bool
    ) async throws {
        let cache = try ReplacingCache(name: "replacing", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: .patient(), cache: cache)
        manager.defaultOptions = [.httpCaching(withHTTPCaching ? .on : .off)]
        try await cache.store(image, forKey: url.cacheKey)
        let results = Recorder<Bool>()
        manager.retrieveImage(with: url, options: [.callbackQueue(.untouch)]) {
            results.record((try? $0.get().image) === cache.replacement)
        }
        // As for the class itself, such a hit is there before the call returns.
        #expect(results.events == [true])
        #expect(try await manager.retrieveImage(with: url).image === cache.replacement)
        #expect(origin.requestCount == 0)
    }

    @Test func anOverriddenAsynchronousMethodIsCalled() async throws {
        let cache: ImageCache = try AwaitedCache(name: "awaited", cacheDirectoryURL: folder.url)
        let calls = try #require(cache as? AwaitedCache).calls
        let options = KingfisherParsedOptionsInfo(nil)
        try await cache.store(image, forKey: "1", options: options)
        try await cache.store(image, forKey: "1")
        try await cache.storeToDisk(png, forKey: "1")
        _ = try await cache.retrieveImage(forKey: "1", options: options)
        _ = try await cache.retrieveImage(forKey: "1")
        _ = try await cache.retrieveImageInDiskCache(forKey: "1")
        _ = try await cache.diskStorageSize
        try await cache.removeImage(forKey: "1")
        await cache.cleanExpiredDiskCache()
        await cache.cleanExpiredCache()
        await cache.clearDiskCache()
        await cache.clearCache()
        #expect(
            calls.events == [
                "store", "store by parts", "store", "storeToDisk", "retrieve", "retrieve by items",
                "retrieve", "retrieve from disk", "size", "remove", "clean disk", "clean",
                "clean disk", "clear disk", "clear", "clear disk",
            ])
        #expect(try await cache.retrieveImageInDiskCache(forKey: "1") == nil)
    }

    @Test func theAwaitedMethodsCallTheOverriddenOnesWithHandlers() async throws {
        let (cache, _) = try watchedCache()
        try await cache.store(image, forKey: "1")
        try await cache.storeToDisk(png, forKey: "2")
        #expect(try await cache.retrieveImage(forKey: "1").cacheType == .memory)
        #expect(try await cache.retrieveImageInDiskCache(forKey: "2") != nil)
        #expect(cache.calls.events == ["store", "storeToDisk", "retrieve", "retrieveFromDisk"])
    }

    @Test func aLivePhotosFileIsStoredByAnOverriddenMethod() async throws {
        let (cache, manager) = try watchedCache()
        let photo = LivePhotoSource(urls: [url])
        let files = try await manager.retrieveLivePhoto(with: photo).fileURLs
        #expect(try files.map { try Data(contentsOf: $0) } == [png])
        #expect(cache.calls.events == ["storeToDisk"])
    }

    @Test func anOverriddenLookUpInMemoryIsAskedFirst() async throws {
        let cache = try ImageCacheOfOne(name: "one", cacheDirectoryURL: folder.url)
        cache.image.set(image)
        let manager = KingfisherManager(downloader: .patient(), cache: cache)
        let result = try await manager.retrieveImage(with: url)
        #expect(result.image === image && result.cacheType == .memory && origin.requestCount == 0)
    }

    @Test func anOriginalIsLookedUpAndStoredByOverriddenMethods() async throws {
        let cache = try ImageCache(name: "plain", cacheDirectoryURL: folder.url)
        let originals = try WatchedCache(name: "originals", cacheDirectoryURL: folder.url)
        let manager = KingfisherManager(downloader: .patient(), cache: cache)
        let options: KingfisherOptionsInfo = [
            .originalCache(originals), .cacheOriginalImage, .waitForCache,
            .processor(ResizingImageProcessor(referenceSize: CGSize(width: 8, height: 6))),
        ]
        _ = try await manager.retrieveImage(with: url, options: options)
        #expect(originals.calls.events == ["type", "storeToDisk"])
        await cache.clearCache()
        let made = try await manager.retrieveImage(with: url, options: options)
        #expect(made.image.pixelSize == PixelSize(width: 8, height: 6) && origin.requestCount == 1)
    }

    @Test func aPrefetcherAsksOverriddenMethods() async throws {
        let (cache, _) = try watchedCache()
        let downloader = RedirectingDownloader(name: "test", to: url)
        let ends = Recorder<Int>()
        for count in 1...2 {
            ImagePrefetcher(
                urls: [url], options: [.targetCache(cache), .downloader(downloader), .waitForCache]
            ) { ends.record(100 * $0.count + 10 * $1.count + $2.count) }.start()
            await ends.waitFor(count: count)
        }
        #expect(ends.events == [1, 100] && downloader.asked.count == 1)
        #expect(cache.calls.events.count { $0 == "type" } == 2)
        #expect(cache.calls.events.count { $0 == "store" } == 1)
    }
}

/// Downloads one and the same URL, whatever it is asked for.
private final class RedirectingDownloader: ImageDownloader, @unchecked Sendable {
    // Unchecked as its superclass is; what it adds is constant.

    let asked = Recorder<URL>()
    private let target: URL

    init(name: String, to target: URL) {
        self.target = target
        super.init(name: name)
        // It does not give up because the machine is busy with other tests.
        downloadTimeout = 600
        connectTimeout = 60
    }

    override func downloadImage(
        with url: URL, options: KingfisherParsedOptionsInfo,
        completionHandler: (@Sendable (Result<ImageLoadingResult, KingfisherError>) -> Void)?
    ) -> DownloadTask {
        asked.record(url)
        return super.downloadImage(
            with: target, options: options, completionHandler: completionHandler)
    }
}

/// Has one image in memory, whatever it is asked for.
private final class ImageCacheOfOne: ImageCache, @unchecked Sendable {
    // Unchecked as its superclass is; what it adds is Sendable.

    let image = Locked<Image?>(nil)

    override func retrieveImageInMemoryCache(
        forKey key: String, options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        image.value
    }
}

/// Says that it has nothing.
private final class DenyingCache: ImageCache, @unchecked Sendable {
    // Unchecked as its superclass is.

    override func imageCachedType(
        forKey key: String, processorIdentifier identifier: String, forcedExtension: String?
    ) -> CacheType {
        .none
    }
}

/// Writes down what it is asked.
private final class WatchedCache: ImageCache, @unchecked Sendable {
    // Unchecked as its superclass is; what it adds is constant.

    let calls = Recorder<String>()

    override func store(
        _ image: KFCrossPlatformImage, original: Data?, forKey key: String,
        options: KingfisherParsedOptionsInfo, toDisk: Bool,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)?
    ) {
        calls.record("store")
        super.store(
            image, original: original, forKey: key, options: options, toDisk: toDisk,
            completionHandler: completionHandler)
    }

    override func storeToDisk(
        _ data: Data, forKey key: String, processorIdentifier identifier: String,
        forcedExtension: String?, expiration: StorageExpiration?, callbackQueue: CallbackQueue,
        completionHandler: (@Sendable (CacheStoreResult) -> Void)?
    ) {
        calls.record("storeToDisk")
        super.storeToDisk(
            data, forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension,
            expiration: expiration, callbackQueue: callbackQueue,
            completionHandler: completionHandler)
    }

    override func retrieveImage(
        forKey key: String, options: KingfisherParsedOptionsInfo, callbackQueue: CallbackQueue,
        completionHandler: (@Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
    ) {
        calls.record("retrieve")
        super.retrieveImage(
            forKey: key, options: options, callbackQueue: callbackQueue,
            completionHandler: completionHandler)
    }

    override func retrieveImageInDiskCache(
        forKey key: String, options: KingfisherOptionsInfo?, callbackQueue: CallbackQueue,
        completionHandler:
            @escaping @Sendable (Result<KFCrossPlatformImage?, KingfisherError>) -> Void
    ) {
        calls.record("retrieveFromDisk")
        super.retrieveImageInDiskCache(
            forKey: key, options: options, callbackQueue: callbackQueue,
            completionHandler: completionHandler)
    }

    override func imageCachedType(
        forKey key: String, processorIdentifier identifier: String, forcedExtension: String?
    ) -> CacheType {
        calls.record("type")
        return super.imageCachedType(
            forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension)
    }
}

/// Gives another image than the one it has.
private final class ReplacingCache: ImageCache, @unchecked Sendable {
    // Unchecked as its superclass is; what it adds is constant.

    let replacement = Image(data: PNGFixture.data(.gradient(width: 3, height: 2)))!

    override func retrieveImage(
        forKey key: String, options: KingfisherParsedOptionsInfo, callbackQueue: CallbackQueue,
        completionHandler: (@Sendable (Result<ImageCacheResult, KingfisherError>) -> Void)?
    ) {
        super.retrieveImage(forKey: key, options: options, callbackQueue: callbackQueue) {
            [replacement] result in
            completionHandler?(result.map { $0.image == nil ? $0 : .memory(replacement) })
        }
    }
}

/// Writes down which of its asynchronous methods are called.
private final class AwaitedCache: ImageCache, @unchecked Sendable {
    // Unchecked as its superclass is; what it adds is constant.

    let calls = Recorder<String>()

    override func store(
        _ image: KFCrossPlatformImage, original: Data?, forKey key: String,
        options: KingfisherParsedOptionsInfo, toDisk: Bool
    ) async throws {
        calls.record("store")
        try await super.store(
            image, original: original, forKey: key, options: options, toDisk: toDisk)
    }

    override func store(
        _ image: KFCrossPlatformImage, original: Data?, forKey key: String,
        processorIdentifier identifier: String, forcedExtension: String?,
        cacheSerializer serializer: any CacheSerializer, toDisk: Bool
    ) async throws {
        calls.record("store by parts")
        try await super.store(
            image, original: original, forKey: key, processorIdentifier: identifier,
            forcedExtension: forcedExtension, cacheSerializer: serializer, toDisk: toDisk)
    }

    override func storeToDisk(
        _ data: Data, forKey key: String, processorIdentifier identifier: String,
        forcedExtension: String?, expiration: StorageExpiration?
    ) async throws {
        calls.record("storeToDisk")
        try await super.storeToDisk(
            data, forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension,
            expiration: expiration)
    }

    override func removeImage(
        forKey key: String, processorIdentifier identifier: String, forcedExtension: String?,
        fromMemory: Bool, fromDisk: Bool
    ) async throws {
        calls.record("remove")
        try await super.removeImage(
            forKey: key, processorIdentifier: identifier, forcedExtension: forcedExtension,
            fromMemory: fromMemory, fromDisk: fromDisk)
    }

    override func retrieveImage(
        forKey key: String, options: KingfisherParsedOptionsInfo
    ) async throws -> ImageCacheResult {
        calls.record("retrieve")
        return try await super.retrieveImage(forKey: key, options: options)
    }

    override func retrieveImage(
        forKey key: String, options: KingfisherOptionsInfo?
    ) async throws -> ImageCacheResult {
        calls.record("retrieve by items")
        return try await super.retrieveImage(forKey: key, options: options)
    }

    override func retrieveImageInDiskCache(
        forKey key: String, options: KingfisherOptionsInfo?
    ) async throws -> KFCrossPlatformImage? {
        calls.record("retrieve from disk")
        return try await super.retrieveImageInDiskCache(forKey: key, options: options)
    }

    override func clearCache() async {
        calls.record("clear")
        await super.clearCache()
    }

    override func clearDiskCache() async {
        calls.record("clear disk")
        await super.clearDiskCache()
    }

    override func cleanExpiredCache() async {
        calls.record("clean")
        await super.cleanExpiredCache()
    }

    override func cleanExpiredDiskCache() async {
        calls.record("clean disk")
        await super.cleanExpiredDiskCache()
    }

    override var diskStorageSize: UInt {
        get async throws {
            calls.record("size")
            return try await super.diskStorageSize
        }
    }
}

import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon
@testable import HalcyonPixels
@testable import HalcyonStorage

/// Storing, retrieving, removing and clearing.
@Suite struct ImageCacheTests {
    let folder: TemporaryDirectory
    let cache: ImageCache
    let serializer = PixelSerializer()
    let image = testImage()

    init() throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
    }

    private func options(_ items: KingfisherOptionsInfo = []) -> KingfisherParsedOptionsInfo {
        KingfisherParsedOptionsInfo(
            [.cacheSerializer(serializer), .callbackQueue(.untouch)] + items)
    }

    private func store(
        _ key: String, _ items: KingfisherOptionsInfo = [], toDisk: Bool = true
    ) async throws {
        try await cache.store(image, forKey: key, options: options(items), toDisk: toDisk)
    }

    private func retrieve(
        _ key: String, _ items: KingfisherOptionsInfo = []
    ) async throws -> ImageCacheResult {
        try await cache.retrieveImage(forKey: key, options: options(items))
    }

    @Test func theComputedKeyNamesTheProcessor() {
        #expect("key".computedKey(with: "") == "key")
        #expect("key".computedKey(with: "blur(3)") == "key@blur(3)")
    }

    // MARK: Making

    /// Upstream: testInvalidCustomCachePath
    @Test func anImpossibleFolderIsAnError() throws {
        let file = try folder.write(Data(), to: "file")
        do {
            _ = try ImageCache(name: "test", cacheDirectoryURL: file)
            Issue.record("made a folder below a file")
        } catch KingfisherError.cacheError(reason: .cannotCreateDirectory(let path, _)) {
            #expect(path == file.path + "/com.onevcat.Kingfisher.ImageCache.test")
        }
    }

    /// Upstream: testCustomCachePath, testCustomCachePathByBlock
    @Test func theFolderFollowsTheGivenOneAndTheBlock() throws {
        let expected = folder.url.appendingPathComponent("com.onevcat.Kingfisher.ImageCache.test")
        #expect(cache.diskStorage.directoryURL.path == expected.path)
        let other = try ImageCache(name: "test", cacheDirectoryURL: folder.url) {
            $0.appendingPathComponent("mine").appendingPathComponent($1)
        }
        #expect(
            other.diskStorage.directoryURL.path
                == folder.url.path + "/mine/com.onevcat.Kingfisher.ImageCache.test")
    }

    /// Upstream: testMaxCachePeriodInSecond, testMaxMemorySize, testMaxDiskCacheSize
    @Test func theStoragesCanBeConfiguredThroughTheCache() {
        cache.diskStorage.config.expiration = .seconds(20)
        cache.memoryStorage.config.totalCostLimit = 123
        cache.diskStorage.config.sizeLimit = 1000
        #expect(cache.diskStorage.config.expiration.timeInterval == 20)
        #expect(cache.memoryStorage.config.totalCostLimit == 123)
        #expect(cache.diskStorage.config.sizeLimit == 1000)
    }

    @Test func theMemoryMayTakeAQuarter() {
        let limit = UInt64(cache.memoryStorage.config.totalCostLimit)
        #expect(limit == MemoryLimit().bytes / 4)
        #expect(limit <= ProcessInfo.processInfo.physicalMemory / 4)
        #expect(cache.diskStorage.config.sizeLimit == 0)
    }

    @Test func aCacheIsReleased() async throws {
        let released: Gate
        do {
            let cache = try TransientCache(name: "short", cacheDirectoryURL: folder.url)
            try await cache.store(image, forKey: "1", options: options())
            released = cache.released
        }
        try await released.wait()
    }

    // MARK: Storing and retrieving

    @Test func storingInMemoryOnlyCompletesAtOnce() {
        let log = Recorder<Bool>()
        cache.store(image, forKey: "1", options: options(), toDisk: false) { result in
            log.record((try? result.diskCacheResult.get()) != nil)
        }
        #expect(log.events == [true])
    }

    @Test func storingPutsARenderedImageIntoMemoryAtOnce() async throws {
        let done = Recorder<Void>()
        cache.store(image, forKey: "1", options: options()) { _ in done.record(()) }
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        _ = await done.waitFor(count: 1)
        #expect(cache.cacheFileURLIfOnDisk(forKey: "1") != nil)
    }

    @Test func awaitingDoesNotNeedTheCallbackQueue() async throws {
        let blocked = DispatchQueue(label: "blocked")
        blocked.suspend()
        defer { blocked.resume() }
        let options = options([.callbackQueue(.dispatch(blocked))])
        try await cache.store(image, forKey: "1", options: options)
        cache.clearMemoryCache()
        #expect(try await cache.retrieveImage(forKey: "1", options: options).cacheType == .disk)
    }

    @Test func aStartedStoreHasTheImageInMemoryBeforeItIsOnDisk() async throws {
        let pending = cache.startStore(
            image, original: nil, forKey: "1", options: options(), toDisk: true)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        try await pending.result.diskCacheResult.get()
        #expect(cache.diskStorage.isCached(forKey: "1"))
    }

    @Test func anImageIsRenderedBeforeItIsStored() async throws {
        let pending = testImage().applying(IdentityOperation())
        #expect(!pending.isRendered)
        let result = await cache.storeAsync(
            pending, original: nil, forKey: "1", options: options(), toDisk: false)
        try result.diskCacheResult.get()
        let found = try #require(cache.retrieveImageInMemoryCache(forKey: "1"))
        #expect(found.isRendered)
    }

    @Test func anImageThatCannotBeRenderedIsNotCached() async throws {
        let broken = testImage().applying(FailingOperation())
        for toDisk in [true, false] {
            let result = await cache.storeAsync(
                broken, original: Data([1]), forKey: "1", options: options(), toDisk: toDisk)
            #expect(KingfisherError.code { try result.diskCacheResult.get() } == 3008)
            #expect(!cache.isCached(forKey: "1"))
        }
    }

    @Test func anImageThatCannotBeSerializedIsInMemoryOnly() async {
        let wide = testImage(width: 300)
        let result = await cache.storeAsync(
            wide, original: nil, forKey: "1", options: options(), toDisk: true)
        #expect(KingfisherError.code { try result.diskCacheResult.get() } == 3008)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(!cache.diskStorage.isCached(forKey: "1"))
    }

    @Test func aDiskThatCannotBeWrittenIsToldOnce() async throws {
        let file = try folder.write(Data(), to: "file")
        let disk = DiskStorage.Backend<Data>(
            noThrowConfig: DiskStorage.Config(name: "test", sizeLimit: 0, directory: file),
            creatingDirectory: true)
        let cache = ImageCache(memoryStorage: cache.memoryStorage, diskStorage: disk)
        let result = await cache.storeAsync(
            image, original: nil, forKey: "1", options: options(), toDisk: true)
        #expect(KingfisherError.code { try result.diskCacheResult.get() } == 3011)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        cache.clearMemoryCache()
        await #expect(throws: KingfisherError.self) {
            try await cache.retrieveImage(forKey: "1", options: options())
        }
        await #expect(throws: KingfisherError.self) {
            try await cache.store(image, forKey: "1", options: options())
        }
        await cache.cleanExpiredDiskCache()
        await cache.clearDiskCache()
    }

    /// Upstream: testMemoryStorageCacheCost, testCostMatchesCacheCost
    @Test func theMemoryCostAddsUp() async throws {
        #expect(cache.memoryStorageCacheCost == 0)
        try await store("1", toDisk: false)
        try await store("2", toDisk: false)
        #expect(cache.memoryStorageCacheCost == 2 * image.cacheCost)
        cache.clearMemoryCache()
        #expect(cache.memoryStorageCacheCost == 0)
    }

    /// Upstream: testCachedImageIsFetchedSynchronouslyFromTheMemoryCache
    @Test func memoryHitsAreAnsweredBeforeTheCallReturns() async throws {
        try await store("1", toDisk: false)
        let log = Recorder<ObjectIdentifier?>()
        cache.retrieveImage(forKey: "1", options: options(), callbackQueue: .untouch) { result in
            log.record((try? result.get().image).map(ObjectIdentifier.init))
        }
        #expect(log.events == [ObjectIdentifier(image)])
    }

    @Test func retrievingWithoutAHandlerDoesNothing() {
        cache.retrieveImage(forKey: "1", options: options(), completionHandler: nil)
    }

    /// Upstream: testRetrieveDiskCacheSynchronously
    @Test func theDiskCanBeReadOnTheCallingThread() async throws {
        try await store("1")
        cache.clearMemoryCache()
        let log = Recorder<CacheType>()
        cache.retrieveImage(
            forKey: "1", options: options([.loadDiskFileSynchronously]), callbackQueue: .untouch
        ) { log.record((try? $0.get().cacheType) ?? .none) }
        #expect(log.events == [.disk])
    }

    /// Upstream: testRetrieveDiskCacheAsynchronously
    @Test func theDiskIsReadElsewhereOtherwise() async throws {
        let gate = DispatchSemaphore(value: 0)
        let slow = PixelSerializer { gate.wait() }
        try await store("1")
        cache.clearMemoryCache()
        let log = Recorder<CacheType>()
        cache.retrieveImage(
            forKey: "1", options: options([.cacheSerializer(slow)]), callbackQueue: .untouch
        ) { log.record((try? $0.get().cacheType) ?? .none) }
        #expect(log.events.isEmpty)
        gate.signal()
        #expect(await log.waitFor(count: 1) == [.disk])
    }

    @Test func retrievingFromDiskDoesNotPromote() async throws {
        try await store("1")
        cache.clearMemoryCache()
        let found = try await cache.retrieveImageInDiskCache(
            forKey: "1", options: [.cacheSerializer(serializer)])
        #expect(found != nil)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        let log = Recorder<Bool>()
        cache.retrieveImageInDiskCache(forKey: "2") { log.record($0.isMiss) }
        #expect(await log.waitFor(count: 1) == [true])
    }

    @Test func memoryOrRefreshDoesNotReadTheDisk() async throws {
        try await store("1")
        cache.clearMemoryCache()
        #expect(try await retrieve("1", [.fromMemoryCacheOrRefresh]).cacheType == .none)
        #expect(serializer.decoded == 0)
    }

    @Test func theShortFormStoresUnderTheIdentifier() async throws {
        try await cache.store(
            image, forKey: "1", processorIdentifier: "p", cacheSerializer: serializer)
        #expect(cache.isCached(forKey: "1", processorIdentifier: "p"))
        #expect(!cache.isCached(forKey: "1"))
        #expect(serializer.encoded == 1)
    }

    /// Upstream: testStoreFileWithForcedExtension
    @Test func aForcedExtensionIsNeededToFindTheFile() async throws {
        var options = options()
        options.forcedExtension = "jpg"
        try await cache.store(image, forKey: "1", options: options)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .none)
        #expect(cache.imageCachedType(forKey: "1", forcedExtension: "jpg") == .disk)
        let url = cache.cacheFileURLIfOnDisk(forKey: "1", forcedExtension: "jpg")
        #expect(url?.pathExtension == "jpg")
        #expect(try await cache.retrieveImage(forKey: "1", options: options).cacheType == .disk)
    }

    /// Defect: D-9
    @Test func originalsKeepTheirBytesExtensionAndOptions() async throws {
        var options = options([.diskCacheExpiration(.seconds(1000))])
        options.forcedExtension = "bin"
        options.processor = NamedProcessor(identifier: "p")
        options.diskStoreWriteOptions = .withoutOverwriting
        let data = Data([1, 2, 3])
        let key = ImageKey("1", forcedExtension: "bin")
        func store() async throws(KingfisherError) {
            try await cache.startStoringOriginal(data, for: key, options: options)
                .value.diskCacheResult.get()
        }
        try await store()
        let url = try #require(cache.cacheFileURLIfOnDisk(forKey: "1", forcedExtension: "bin"))
        #expect(try Data(contentsOf: url) == data)
        #expect(cache.memoryStorageCacheCost == 0)
        await #expect {
            try await store()
        } throws: {
            ($0 as? KingfisherError)?.errorCode == 3009
        }
    }

    @Test func bytesCanBeStoredAsTheyAre() async throws {
        try await cache.storeToDisk(Data([9]), forKey: "1", processorIdentifier: "p")
        let url = try #require(cache.cacheFileURLIfOnDisk(forKey: "1", processorIdentifier: "p"))
        #expect(try Data(contentsOf: url) == Data([9]))
        try await cache.storeToDisk(Data([9]), forKey: "2", expiration: .expired)
        #expect(!cache.isCached(forKey: "2"))
    }

    @Test func aFileThatIsNoImageIsRemoved() async throws {
        try await cache.storeToDisk(Data([9]), forKey: "1")
        #expect(try await retrieve("1").cacheType == .none)
        #expect(cache.cacheFileURLIfOnDisk(forKey: "1") == nil)
        try await cache.storeToDisk(Data([9]), forKey: "2")
        #expect(try await retrieve("2", [.loadDiskFileSynchronously]).cacheType == .none)
        #expect(cache.cacheFileURLIfOnDisk(forKey: "2") == nil)
    }

    @Test func readingWaitsForTheWriteOfTheSameImage() async throws {
        for round in 0..<20 {
            let key = "\(round)"
            cache.store(image, forKey: key, options: options(), completionHandler: nil)
            cache.clearMemoryCache()
            #expect(try await retrieve(key).cacheType == .disk)
            cache.removeImage(forKey: key, completionHandler: nil)
            #expect(try await retrieve(key).cacheType == .none)
        }
    }

    // MARK: Removing and clearing

    @Test func removingCanBeLimitedToOneOfBoth() async throws {
        try await store("1")
        try await cache.removeImage(forKey: "1", fromDisk: false)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        _ = try await retrieve("1")
        try await cache.removeImage(forKey: "1", fromMemory: false)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(!cache.diskStorage.isCached(forKey: "1"))
    }

    /// Defect: D-25
    @Test func removingWhatIsNotThereIsNoError() async throws {
        try await cache.removeImage(forKey: "unknown")
        try await store("1", toDisk: false)
        try await cache.removeImage(forKey: "1")
        #expect(!cache.isCached(forKey: "1"))
        let log = Recorder<Void>()
        cache.removeImage(forKey: "unknown") { log.record(()) }
        _ = await log.waitFor(count: 1)
        cache.removeImage(forKey: "unknown", fromDisk: false) { log.record(()) }
        #expect(log.count == 2)
    }

    @Test func clearingEverythingCallsTheHandlerOnMain() async throws {
        try await store("1")
        let log = Recorder<Bool>()
        cache.clearCache { log.record(MainQueue.isCurrent) }
        #expect(await log.waitFor(count: 1) == [true])
        #expect(cache.imageCachedType(forKey: "1") == .none)
    }

    /// Upstream: testCalculateDiskStorageSize, testCalculateDiskStorageSizeAsync
    @Test func theSizeIsThatOfAllFiles() async throws {
        #expect(try await cache.diskStorageSize == 0)
        for key in ["1", "2", "3", "4"] {
            cache.store(image, forKey: key, options: options(), completionHandler: nil)
        }
        let one = try #require(serializer.data(with: image, original: nil)).count
        #expect(try await cache.diskStorageSize == UInt(4 * one))
        let log = Recorder<UInt?>()
        cache.calculateDiskStorageSize { log.record(try? $0.get()) }
        #expect(await log.waitFor(count: 1) == [UInt(4 * one)])
    }

    /// Upstream: testDiskCacheStillWorkWhenFolderDeletedExternally,
    /// testDiskCacheCalculateSizeWhenFolderDeletedExternally
    @Test func aFolderDeletedByOthersIsMadeAgain() async throws {
        try await store("1")
        cache.clearMemoryCache()
        try FileManager.default.removeItem(at: cache.diskStorage.directoryURL)
        #expect(try await cache.diskStorageSize == 0)
        #expect(try await retrieve("1").cacheType == .none)
        try await store("1")
        cache.clearMemoryCache()
        #expect(try await retrieve("1").cacheType == .disk)
    }

    @Test func manyTasksStoreAndRetrieveAtOnce() async throws {
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let key = "\(index % 10)"
                    let value = UInt8(index % 10)
                    do {
                        try await cache.store(
                            testImage(value: value), forKey: key, options: options())
                        if index % 3 == 0 { cache.clearMemoryCache() }
                        let found = try await cache.retrieveImage(forKey: key, options: options())
                        #expect(try found.image?.bitmap().data.first == value)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
    }
}

extension Result where Success == KFCrossPlatformImage? {
    /// Whether this is a success without an image.
    fileprivate var isMiss: Bool {
        if case .success(nil) = self { true } else { false }
    }
}

/// A cache whose end can be awaited.
private final class TransientCache: ImageCache, @unchecked Sendable {
    // Unchecked as its superclass is; what it adds is constant.

    let released = Gate()

    deinit {
        released.open()
    }
}

import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon
@testable import HalcyonPixels
@testable import HalcyonStorage

/// Storing, retrieving, removing and clearing.
@Suite struct ImageCacheTests {
    private let fixture: CacheFixture
    private var folder: TemporaryDirectory { fixture.folder }
    private var cache: ImageCache { fixture.cache }
    private var image: Image { fixture.image }

    init() throws { fixture = try CacheFixture() }

    /// Why nothing was written; `nil` when something was.
    private func failure(storing image: Image, toDisk: Bool = true, in other: ImageCache? = nil)
        async -> Int?
    {
        do {
            try await (other ?? cache).store(
                image, forKey: "1", options: fixture.options(), toDisk: toDisk)
            return nil
        } catch {
            return KingfisherError.code { throw error }
        }
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

    @Test func theMemoryMayTakeAQuarter() throws {
        let cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
        let limit = UInt64(cache.memoryStorage.config.totalCostLimit)
        #expect(limit == MemoryLimit().bytes / 4)
        #expect(limit <= ProcessInfo.processInfo.physicalMemory / 4)
        #expect(cache.diskStorage.config.sizeLimit == 0)
    }

    @Test func aCacheIsReleased() async throws {
        let released: Gate
        do {
            let cache = try TransientCache(name: "short", cacheDirectoryURL: folder.url)
            try await cache.store(image, forKey: "1", options: fixture.options())
            released = cache.released
        }
        try await released.wait()
    }

    // MARK: Storing and retrieving

    @Test func storingPutsARenderedImageIntoMemoryAtOnce() async throws {
        let done = Recorder<Void>()
        cache.store(image, forKey: "1", options: fixture.options()) { _ in done.record(()) }
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        await done.waitFor(count: 1)
        #expect(cache.cacheFileURLIfOnDisk(forKey: "1") != nil)
    }

    @Test func awaitingDoesNotNeedTheCallbackQueue() async throws {
        let blocked = DispatchQueue(label: "blocked")
        blocked.suspend()
        defer { blocked.resume() }
        let options = fixture.options([.callbackQueue(.dispatch(blocked))])
        try await cache.store(image, forKey: "1", options: options)
        cache.clearMemoryCache()
        #expect(try await cache.retrieveImage(forKey: "1", options: options).cacheType == .disk)
    }

    @Test func anImageIsRenderedBeforeItIsStored() async throws {
        let pending = testImage().applying(.identity)
        #expect(!pending.isRendered)
        #expect(await failure(storing: pending, toDisk: false) == nil)
        let found = try #require(cache.retrieveImageInMemoryCache(forKey: "1"))
        #expect(found.isRendered)
    }

    @Test func anImageThatCannotBeRenderedIsNotCached() async throws {
        let broken = testImage().applying(.failing)
        for toDisk in [true, false] {
            #expect(await failure(storing: broken, toDisk: toDisk) == 3008)
            #expect(!cache.isCached(forKey: "1"))
        }
    }

    @Test func anImageThatCannotBeSerializedIsInMemoryOnly() async {
        #expect(await failure(storing: testImage(width: 300)) == 3008)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(!cache.diskStorage.isCached(forKey: "1"))
    }

    @Test func aDiskThatCannotBeWrittenIsToldOnce() async throws {
        let cache = try folder.unwritableCache()
        #expect(await failure(storing: image, in: cache) == 3011)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        cache.clearMemoryCache()
        await #expect(throws: KingfisherError.self) {
            try await cache.retrieveImage(forKey: "1", options: fixture.options())
        }
        await #expect(throws: KingfisherError.self) { try await fixture.store("1", in: cache) }
        await cache.cleanExpiredDiskCache()
        await cache.clearDiskCache()
    }

    /// Upstream: testMemoryStorageCacheCost, testCostMatchesCacheCost
    @Test func theMemoryCostAddsUp() async throws {
        #expect(cache.memoryStorageCacheCost == 0)
        for key in ["1", "2"] { try await fixture.store(key, toDisk: false) }
        #expect(cache.memoryStorageCacheCost == 2 * image.cacheCost)
        cache.clearMemoryCache()
        #expect(cache.memoryStorageCacheCost == 0)
    }

    @Test func retrievingWithoutAHandlerDoesNothing() {
        cache.retrieveImage(forKey: "1", options: fixture.options(), completionHandler: nil)
    }

    /// Upstream: testRetrieveDiskCacheAsynchronously
    @Test func theDiskIsReadElsewhereOtherwise() async throws {
        let gate = DispatchSemaphore(value: 0)
        let slow = PixelSerializer { gate.wait() }
        try await fixture.storeOnDisk("1")
        let log = Recorder<CacheType>()
        cache.retrieveImage(
            forKey: "1", options: fixture.options([.cacheSerializer(slow)]), callbackQueue: .untouch
        ) { log.record((try? $0.get().cacheType) ?? .none) }
        #expect(log.events.isEmpty)
        gate.signal()
        #expect(await log.waitFor(count: 1) == [.disk])
    }

    @Test func retrievingFromDiskDoesNotPromote() async throws {
        try await fixture.storeOnDisk("1")
        let found = try await cache.retrieveImageInDiskCache(
            forKey: "1", options: [.cacheSerializer(fixture.serializer)])
        #expect(found != nil)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        let log = Recorder<Bool>()
        cache.retrieveImageInDiskCache(forKey: "2") { log.record($0.isMiss) }
        #expect(await log.waitFor(count: 1) == [true])
    }

    @Test func memoryOrRefreshDoesNotReadTheDisk() async throws {
        try await fixture.storeOnDisk("1")
        #expect(try await fixture.retrieve("1", [.fromMemoryCacheOrRefresh]).cacheType == .none)
        #expect(fixture.serializer.decoded == 0)
    }

    @Test func theShortFormStoresUnderTheIdentifier() async throws {
        try await cache.store(
            image, forKey: "1", processorIdentifier: "p", cacheSerializer: fixture.serializer)
        #expect(cache.isCached(forKey: "1", processorIdentifier: "p"))
        #expect(!cache.isCached(forKey: "1"))
        #expect(fixture.serializer.encoded == 1)
    }

    /// Upstream: testStoreFileWithForcedExtension
    @Test func aForcedExtensionIsNeededToFindTheFile() async throws {
        let items: KingfisherOptionsInfo = [.forcedCacheFileExtension("jpg")]
        try await fixture.store("1", items)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .none)
        #expect(cache.imageCachedType(forKey: "1", forcedExtension: "jpg") == .disk)
        let url = cache.cacheFileURLIfOnDisk(forKey: "1", forcedExtension: "jpg")
        #expect(url?.pathExtension == "jpg")
        #expect(try await fixture.retrieve("1", items).cacheType == .disk)
    }

    /// Defect: D-9
    @Test func originalsKeepTheirBytesExtensionAndOptions() async throws {
        let options = fixture.options([
            .diskCacheExpiration(.seconds(1000)), .forcedCacheFileExtension("bin"),
            .processor(NamedProcessor(identifier: "p")),
            .diskStoreWriteOptions(.withoutOverwriting),
        ])
        let data = Data([1, 2, 3])
        func store() async -> Int? {
            let result = await cache.startStoringOriginal(
                data, for: ImageKey("1", forcedExtension: "bin"), options: options
            ).value.diskCacheResult
            return KingfisherError.code { try result.get() }
        }
        #expect(await store() == nil)
        let url = try #require(cache.cacheFileURLIfOnDisk(forKey: "1", forcedExtension: "bin"))
        #expect(try Data(contentsOf: url) == data)
        #expect(cache.memoryStorageCacheCost == 0)
        #expect(await store() == 3009)
    }

    @Test func bytesCanBeStoredAsTheyAre() async throws {
        try await cache.storeToDisk(Data([9]), forKey: "1", processorIdentifier: "p")
        let url = try #require(cache.cacheFileURLIfOnDisk(forKey: "1", processorIdentifier: "p"))
        #expect(try Data(contentsOf: url) == Data([9]))
        try await cache.storeToDisk(Data([9]), forKey: "2", expiration: .expired)
        #expect(!cache.isCached(forKey: "2"))
    }

    @Test(arguments: [[], [.loadDiskFileSynchronously]] as [KingfisherOptionsInfo])
    func aFileThatIsNoImageIsRemoved(options: KingfisherOptionsInfo) async throws {
        try await cache.storeToDisk(Data([9]), forKey: "1")
        #expect(try await fixture.retrieve("1", options).cacheType == .none)
        #expect(cache.cacheFileURLIfOnDisk(forKey: "1") == nil)
    }

    @Test func aDamagedImageIsAMissAndRemoved() async throws {
        let png = PNGFixture.solid(.red, width: 16, height: 16)
        try await cache.storeToDisk(png.prefix(png.count / 2), forKey: "1")
        #expect(try await cache.retrieveImage(forKey: "1").cacheType == .none)
        #expect(cache.imageCachedType(forKey: "1") == .none)
    }

    @Test func readingWaitsForTheWriteOfTheSameImage() async throws {
        for round in 0..<20 {
            let key = "\(round)"
            cache.store(image, forKey: key, options: fixture.options(), completionHandler: nil)
            cache.clearMemoryCache()
            #expect(try await fixture.retrieve(key).cacheType == .disk)
            cache.removeImage(forKey: key, completionHandler: nil)
            #expect(try await fixture.retrieve(key).cacheType == .none)
        }
    }

    // MARK: Formats

    private func format(of key: String) throws -> ImageFormat {
        try Data(contentsOf: URL(fileURLWithPath: cache.cachePath(forKey: key))).kf.imageFormat
    }

    /// Upstream: testStoreGIFToDiskWithNilOriginalShouldPreserveGIFFormat,
    /// testCopyKingfisherStateShouldKeepEmbeddedGIFDataForDiskCache
    @Test func anAnimationWithoutOriginalStaysAGIF() async throws {
        let animated = try #require(Image(data: Grays.gif(3)))
        let copy = animated.kf.copyKingfisherState(to: Image(bitmap: try Grays.bitmap(0)))
        for image in [animated, animated.withScale(2), copy] {
            try await cache.store(image, forKey: "1")
            #expect(try format(of: "1") == .GIF)
            cache.clearMemoryCache()
            let found = try #require(try await cache.retrieveImage(forKey: "1").image)
            #expect(found.frameCount == 3)
            #expect(found.isRendered)
        }
    }

    // MARK: Removing and clearing

    @Test func removingCanBeLimitedToOneOfBoth() async throws {
        try await fixture.store("1")
        try await cache.removeImage(forKey: "1", fromDisk: false)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        _ = try await fixture.retrieve("1")
        try await cache.removeImage(forKey: "1", fromMemory: false)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(!cache.diskStorage.isCached(forKey: "1"))
    }

    /// Defect: D-25
    @Test func removingWhatIsNotThereIsNoError() async throws {
        try await cache.removeImage(forKey: "unknown")
        try await fixture.store("1", toDisk: false)
        try await cache.removeImage(forKey: "1")
        #expect(!cache.isCached(forKey: "1"))
        let log = Recorder<Void>()
        cache.removeImage(forKey: "unknown") { log.record(()) }
        _ = await log.waitFor(count: 1)
        cache.removeImage(forKey: "unknown", fromDisk: false) { log.record(()) }
        #expect(log.count == 2)
    }

    @Test func clearingEverythingCallsTheHandlerOnMain() async throws {
        try await fixture.store("1")
        let log = Recorder<Bool>()
        cache.clearCache { log.record(MainQueue.isCurrent) }
        #expect(await log.waitFor(count: 1) == [true])
        #expect(cache.imageCachedType(forKey: "1") == .none)
    }

    /// Upstream: testCalculateDiskStorageSize, testCalculateDiskStorageSizeAsync
    @Test func theSizeIsThatOfAllFiles() async throws {
        #expect(try await cache.diskStorageSize == 0)
        for key in ["1", "2", "3", "4"] {
            cache.store(image, forKey: key, options: fixture.options(), completionHandler: nil)
        }
        let one = try #require(fixture.serializer.data(with: image, original: nil)).count
        #expect(try await cache.diskStorageSize == UInt(4 * one))
        let log = Recorder<UInt?>()
        cache.calculateDiskStorageSize { log.record(try? $0.get()) }
        #expect(await log.waitFor(count: 1) == [UInt(4 * one)])
    }
}

extension Result where Success == KFCrossPlatformImage? {
    /// Whether this is a success without an image.
    fileprivate var isMiss: Bool { if case .success(nil) = self { true } else { false } }
}

/// A cache whose end can be awaited.
private final class TransientCache: ImageCache, @unchecked Sendable {
    // Unchecked as its superclass is; what it adds is constant.

    let released = Gate()

    deinit { released.open() }
}

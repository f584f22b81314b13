import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The functions of the cache that have two forms: one that is awaited, and one that calls back.
@Suite struct ImageCacheFormTests {
    enum Form: CaseIterable, Sendable {
        case awaited, calledBack
    }

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
        _ form: Form, _ key: String, _ items: KingfisherOptionsInfo = [], toDisk: Bool = true,
        in other: ImageCache? = nil
    ) async throws {
        let target = other ?? cache
        guard form == .calledBack else {
            return try await target.store(
                image, forKey: key, options: options(items), toDisk: toDisk)
        }
        let result = await withCheckedContinuation { continuation in
            target.store(image, forKey: key, options: options(items), toDisk: toDisk) {
                continuation.resume(returning: $0)
            }
        }
        result.memoryCacheResult.get()
        try result.diskCacheResult.get()
    }

    private func retrieve(
        _ form: Form, _ key: String, _ items: KingfisherOptionsInfo = []
    ) async throws -> ImageCacheResult {
        guard form == .calledBack else {
            return try await cache.retrieveImage(forKey: key, options: options(items))
        }
        return try await withCheckedContinuation { continuation in
            cache.retrieveImage(forKey: key, options: options(items), callbackQueue: .untouch) {
                continuation.resume(returning: $0)
            }
        }.get()
    }

    /// Upstream: testNoImageFound, testNoImageFoundAsync, testCachedFileDoesNotExist
    @Test(arguments: Form.allCases)
    func aMissIsASuccessWithoutAnImage(_ form: Form) async throws {
        let result = try await retrieve(form, "unknown")
        #expect(result.image == nil)
        #expect(result.cacheType == .none)
        #expect(!cache.isCached(forKey: "unknown"))
        #expect(cache.cacheFileURLIfOnDisk(forKey: "unknown") == nil)
    }

    /// Upstream: testCachedFileExists, testClearMemoryCache, testIsImageCachedForKey,
    /// testClearMemoryCacheAsync, testCachedFileExistsAsync, testIsImageCachedForKeyAsync
    @Test(arguments: Form.allCases)
    func anImageIsFoundInMemoryAndThenOnDisk(_ form: Form) async throws {
        #expect(!cache.isCached(forKey: "1"))
        try await store(form, "1")
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(try await retrieve(form, "1").image === image)
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        #expect(cache.isCached(forKey: "1"))
        let result = try await retrieve(form, "1")
        #expect(result.cacheType == .disk)
        #expect(try result.image?.bitmap().data == image.bitmap().data)
        #expect(try await retrieve(form, "1").cacheType == .memory, "promoted to memory")
    }

    /// Upstream: testClearDiskCache, testClearDiskCacheAsync
    @Test(arguments: Form.allCases)
    func clearingTheDiskLeavesNothing(_ form: Form) async throws {
        try await store(form, "1")
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        switch form {
        case .awaited: await cache.clearDiskCache()
        case .calledBack:
            await withCheckedContinuation { continuation in
                cache.clearDiskCache { continuation.resume() }
            }
        }
        #expect(cache.imageCachedType(forKey: "1") == .none)
    }

    /// Upstream: testStoreImageInMemory, testStoreImageInMemoryAsync
    @Test(arguments: Form.allCases)
    func memoryOnlyIsNotOnDisk(_ form: Form) async throws {
        try await store(form, "1", toDisk: false)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .none)
        #expect(serializer.encoded == 0)
    }

    /// Upstream: testStoreMultipleImages, testStoreMultipleImagesAsync
    @Test(arguments: Form.allCases)
    func severalImagesStoredAtOnceHaveAFileEach(_ form: Form) async throws {
        let keys = ["1", "2", "3", "4"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys { group.addTask { try await store(form, key) } }
            try await group.waitForAll()
        }
        let files = try FileManager.default.contentsOfDirectory(
            at: cache.diskStorage.directoryURL, includingPropertiesForKeys: nil,
            options: .skipsHiddenFiles)
        #expect(Set(files.map(\.lastPathComponent)) == Set(keys.map(\.kf.sha256)))
    }

    /// Upstream: testCachedFileWithCustomPathExtensionExists,
    /// testCachedFileWithCustomPathExtensionExistsAsync
    @Test(arguments: Form.allCases)
    func thePathExtensionEndsThePath(_ form: Form) async throws {
        cache.diskStorage.config.pathExtension = "jpg"
        try await store(form, "1")
        #expect(cache.cachePath(forKey: "1").hasSuffix("/" + "1".kf.sha256 + ".jpg"))
        #expect(FileManager.default.fileExists(atPath: cache.cachePath(forKey: "1")))
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .disk)
    }

    /// Upstream: testCannotRetrieveCacheWithProcessorIdentifier,
    /// testRetrieveCacheWithProcessorIdentifier,
    /// testCannotRetrieveCacheWithProcessorIdentifierAsync,
    /// testRetrieveCacheWithProcessorIdentifierAsync
    @Test(arguments: Form.allCases)
    func theProcessorIsPartOfTheKey(_ form: Form) async throws {
        let processor = NamedProcessor(identifier: "named(1)")
        try await store(form, "1")
        #expect(try await retrieve(form, "1", [.processor(processor)]).image == nil)
        try await store(form, "2", [.processor(processor)])
        #expect(try await retrieve(form, "2").image == nil)
        #expect(try await retrieve(form, "2", [.processor(processor)]).image != nil)
        #expect(cache.isCached(forKey: "2", processorIdentifier: "named(1)"))
        #expect(cache.hash(forKey: "2", processorIdentifier: "named(1)") == "2@named(1)".kf.sha256)
    }

    /// Upstream: testModifierShouldOnlyApplyForFinalResultWhenMemoryLoad,
    /// testModifierShouldOnlyApplyForFinalResultWhenDiskLoad,
    /// testModifierShouldOnlyApplyForFinalResultWhenMemoryLoadAsync,
    /// testModifierShouldOnlyApplyForFinalResultWhenDiskLoadAsync
    @Test(arguments: Form.allCases)
    func aModifierIsNeverApplied(_ form: Form) async throws {
        let modifier = AnyImageModifier { _ in
            Issue.record("the cache applied a modifier")
            return testImage(value: 1)
        }
        try await store(form, "1", [.imageModifier(modifier)])
        #expect(try await retrieve(form, "1", [.imageModifier(modifier)]).cacheType == .memory)
        cache.clearMemoryCache()
        let found = try await retrieve(form, "1", [.imageModifier(modifier)])
        #expect(found.cacheType == .disk)
        #expect(try found.image?.bitmap().data == image.bitmap().data)
    }

    /// Upstream: testStoreToMemoryWithExpiration, testStoreToMemoryWithExpirationAsync
    @Test(arguments: Form.allCases)
    func theMemoryExpirationIsThatOfTheOptions(_ form: Form) async throws {
        let clock = TestClock()
        let memory = MemoryStorage.Backend<KFCrossPlatformImage>(
            config: .init(totalCostLimit: 0), now: { clock.now })
        let cache = ImageCache(memoryStorage: memory, diskStorage: cache.diskStorage)
        try await store(form, "1", [.memoryCacheExpiration(.seconds(0.5))], in: cache)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        clock.advance(1)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
    }

    /// Upstream: testStoreToDiskWithExpiration, testStoreToDiskWithExpirationAsync
    @Test(arguments: Form.allCases)
    func expiredForTheDiskMeansNoFile(_ form: Form) async throws {
        try await store(form, "1", [.diskCacheExpiration(.expired)])
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(!cache.diskStorage.isCached(forKey: "1"))
        #expect(!FileManager.default.fileExists(atPath: cache.cachePath(forKey: "1")))
    }

    /// Upstream: testCachedImageIsFetchedSynchronouslyFromTheMemoryCacheAsync
    @Test @MainActor func awaitingAMemoryHitGivesTheIdenticalImage() async throws {
        try await store(.calledBack, "1", toDisk: false)
        let isHere = Locked(false)
        // Runs only if the look-up below gives the main actor away.
        Task { @MainActor in isHere.set(true) }
        let result = try await cache.retrieveImage(forKey: "1", options: options())
        #expect(!isHere.value)
        #expect(result.image === image)
        #expect(result.cacheType == .memory)
    }

    /// Upstream: testDefaultCache
    @Test func theDefaultCacheStoresInBothLayers() async throws {
        let cache = ImageCache.default
        let key = UUID().uuidString
        await withCheckedContinuation { continuation in
            cache.store(image, forKey: key, options: options()) { _ in continuation.resume() }
        }
        #expect(cache.memoryStorage.isCached(forKey: key))
        #expect(cache.diskStorage.isCached(forKey: key))
        await withCheckedContinuation { continuation in
            cache.removeImage(forKey: key) { continuation.resume() }
        }
        #expect(!cache.isCached(forKey: key))
    }

    /// Upstream: testCopyKingfisherStateShouldKeepEmbeddedGIFDataForDiskCache
    @Test func anImageThatTookOverAnAnimationsStateIsWrittenAsGIF() async throws {
        let animated = try #require(Image(data: Grays.gif(3)))
        let copy = animated.kf.copyKingfisherState(to: Image(bitmap: try Grays.bitmap(0)))
        try await cache.store(copy, forKey: "1")
        let file = URL(fileURLWithPath: cache.cachePath(forKey: "1"))
        #expect(try Data(contentsOf: file).kf.imageFormat == .GIF)
        cache.clearMemoryCache()
        #expect(try await cache.retrieveImage(forKey: "1").image?.frameCount == 3)
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The forms of the cache's functions that call back.
@Suite struct ImageCacheCallbackTests {
    let folder: TemporaryDirectory
    let cache: ImageCache
    let image = testImage()

    init() throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
    }

    private func options(_ items: KingfisherOptionsInfo = []) -> KingfisherParsedOptionsInfo {
        KingfisherParsedOptionsInfo(
            [.cacheSerializer(PixelSerializer()), .callbackQueue(.untouch)] + items)
    }

    private func store(
        _ key: String, _ items: KingfisherOptionsInfo = [], toDisk: Bool = true
    ) async throws {
        let result = await withCheckedContinuation { continuation in
            cache.store(image, forKey: key, options: options(items), toDisk: toDisk) {
                continuation.resume(returning: $0)
            }
        }
        result.memoryCacheResult.get()
        try result.diskCacheResult.get()
    }

    private func retrieve(
        _ key: String, _ items: KingfisherOptionsInfo = []
    ) async throws -> ImageCacheResult {
        try await withCheckedContinuation { continuation in
            cache.retrieveImage(forKey: key, options: options(items), callbackQueue: .untouch) {
                continuation.resume(returning: $0)
            }
        }.get()
    }

    /// Upstream: testNoImageFound
    @Test func aMissIsASuccessWithoutAnImage() async throws {
        let result = try await retrieve("unknown")
        #expect(result.image == nil)
        #expect(result.cacheType == .none)
    }

    /// Upstream: testCachedFileExists, testClearMemoryCache, testIsImageCachedForKey
    @Test func anImageIsFoundInMemoryAndThenOnDisk() async throws {
        #expect(!cache.isCached(forKey: "1"))
        try await store("1")
        #expect(cache.isCached(forKey: "1"))
        #expect(try await retrieve("1").cacheType == .memory)
        cache.clearMemoryCache()
        let result = try await retrieve("1")
        #expect(result.cacheType == .disk)
        #expect(try result.image?.bitmap().data == image.bitmap().data)
    }

    /// Upstream: testClearDiskCache
    @Test func clearingTheDiskLeavesNothing() async throws {
        try await store("1")
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        await withCheckedContinuation { continuation in
            cache.clearDiskCache { continuation.resume() }
        }
        #expect(cache.imageCachedType(forKey: "1") == .none)
    }

    /// Upstream: testStoreImageInMemory
    @Test func memoryOnlyIsNotOnDisk() async throws {
        try await store("1", toDisk: false)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        cache.clearMemoryCache()
        #expect(try await retrieve("1").cacheType == .none)
    }

    /// Upstream: testStoreMultipleImages
    @Test func severalImagesStoredAtOnceHaveAFileEach() async throws {
        let keys = ["1", "2", "3", "4"]
        let done = Recorder<String>()
        for key in keys {
            cache.store(image, forKey: key, options: options()) { _ in done.record(key) }
        }
        #expect(Set(await done.waitFor(count: 4)) == Set(keys))
        let files = try FileManager.default.contentsOfDirectory(
            at: cache.diskStorage.directoryURL, includingPropertiesForKeys: nil,
            options: .skipsHiddenFiles)
        #expect(Set(files.map(\.lastPathComponent)) == Set(keys.map(\.kf.sha256)))
    }

    /// Upstream: testCachedFileWithCustomPathExtensionExists
    @Test func thePathExtensionEndsThePath() async throws {
        cache.diskStorage.config.pathExtension = "jpg"
        try await store("1")
        let path = cache.cachePath(forKey: "1")
        #expect(path.hasSuffix(".jpg"))
        #expect(FileManager.default.fileExists(atPath: path))
    }

    /// Upstream: testCachedImageIsFetchedSynchronouslyFromTheMemoryCacheAsync
    @Test @MainActor func awaitingAMemoryHitGivesTheIdenticalImage() async throws {
        try await store("1", toDisk: false)
        let isHere = Locked(false)
        // Runs only if the look-up below gives the main actor away.
        Task { @MainActor in isHere.set(true) }
        let result = try await cache.retrieveImage(forKey: "1", options: options())
        #expect(!isHere.value)
        #expect(result.image === image)
        #expect(result.cacheType == .memory)
    }

    /// Upstream: testCannotRetrieveCacheWithProcessorIdentifier,
    /// testRetrieveCacheWithProcessorIdentifier
    @Test func theProcessorIsPartOfTheKey() async throws {
        let processor = NamedProcessor(identifier: "named(1)")
        try await store("1")
        #expect(try await retrieve("1", [.processor(processor)]).image == nil)
        try await store("2", [.processor(processor)])
        #expect(try await retrieve("2", [.processor(processor)]).image != nil)
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

    /// Upstream: testModifierShouldOnlyApplyForFinalResultWhenMemoryLoad,
    /// testModifierShouldOnlyApplyForFinalResultWhenDiskLoad
    @Test func aModifierIsNeverApplied() async throws {
        let modifier = AnyImageModifier { image in
            Issue.record("the cache applied a modifier")
            return image
        }
        try await store("1", [.imageModifier(modifier)])
        #expect(try await retrieve("1", [.imageModifier(modifier)]).cacheType == .memory)
        cache.clearMemoryCache()
        #expect(try await retrieve("1", [.imageModifier(modifier)]).cacheType == .disk)
    }

    /// Upstream: testStoreToMemoryWithExpiration
    @Test func theMemoryExpirationIsThatOfTheOptions() async throws {
        let clock = TestClock()
        let cache = ImageCache(
            memoryStorage: .init(config: .init(totalCostLimit: 0), now: { clock.now }),
            diskStorage: cache.diskStorage)
        await withCheckedContinuation { continuation in
            cache.store(
                image, forKey: "1", options: options([.memoryCacheExpiration(.seconds(0.5))])
            ) { _ in continuation.resume() }
        }
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        clock.advance(1)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
    }

    /// Upstream: testStoreToDiskWithExpiration
    @Test func expiredForTheDiskMeansNoFile() async throws {
        try await store("1", [.diskCacheExpiration(.expired)])
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(!cache.diskStorage.isCached(forKey: "1"))
        #expect(!FileManager.default.fileExists(atPath: cache.cachePath(forKey: "1")))
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

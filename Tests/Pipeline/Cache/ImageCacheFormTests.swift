import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// The functions of the cache that have two forms: one that is awaited, and one that calls back.
@Suite struct ImageCacheFormTests {
    private let fixture: CacheFixture
    private var cache: ImageCache { fixture.cache }

    init() throws { fixture = try CacheFixture() }

    /// Upstream: testNoImageFound, testNoImageFoundAsync, testCachedFileDoesNotExist
    @Test(arguments: CacheFixture.Form.allCases)
    func aMissIsASuccessWithoutAnImage(_ form: CacheFixture.Form) async throws {
        let result = try await fixture.retrieve("unknown", by: form)
        #expect(result.image == nil)
        #expect(result.cacheType == .none)
        #expect(!cache.isCached(forKey: "unknown"))
        #expect(cache.cacheFileURLIfOnDisk(forKey: "unknown") == nil)
    }

    /// Upstream: testCachedFileExists, testClearMemoryCache, testIsImageCachedForKey,
    /// testClearMemoryCacheAsync, testCachedFileExistsAsync, testIsImageCachedForKeyAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func anImageIsFoundInMemoryAndThenOnDisk(_ form: CacheFixture.Form) async throws {
        #expect(!cache.isCached(forKey: "1"))
        try await fixture.store("1", by: form)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(try await fixture.retrieve("1", by: form).image === fixture.image)
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        #expect(cache.isCached(forKey: "1"))
        let result = try await fixture.retrieve("1", by: form)
        #expect(result.cacheType == .disk)
        #expect(try result.image?.bitmap().data == fixture.image.bitmap().data)
        #expect(
            try await fixture.retrieve("1", by: form).cacheType == .memory, "promoted to memory")
    }

    /// Upstream: testClearDiskCache, testClearDiskCacheAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func clearingTheDiskLeavesNothing(_ form: CacheFixture.Form) async throws {
        try await fixture.store("1", by: form)
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .disk)
        switch form {
        case .awaited: await cache.clearDiskCache()
        case .calledBack: await handedOver { hand in cache.clearDiskCache { hand(()) } }
        }
        #expect(cache.imageCachedType(forKey: "1") == .none)
    }

    /// Upstream: testStoreImageInMemory, testStoreImageInMemoryAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func memoryOnlyIsNotOnDisk(_ form: CacheFixture.Form) async throws {
        try await fixture.store("1", toDisk: false, by: form)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .none)
        #expect(fixture.serializer.encoded == 0)
    }

    /// Upstream: testStoreMultipleImages, testStoreMultipleImagesAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func severalImagesStoredAtOnceHaveAFileEach(_ form: CacheFixture.Form) async throws {
        let keys = ["1", "2", "3", "4"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys { group.addTask { try await fixture.store(key, by: form) } }
            try await group.waitForAll()
        }
        #expect(Set(try cache.diskStorage.names(hidden: false)) == Set(keys.map(\.kf.sha256)))
    }

    /// Upstream: testCachedFileWithCustomPathExtensionExists,
    /// testCachedFileWithCustomPathExtensionExistsAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func thePathExtensionEndsThePath(_ form: CacheFixture.Form) async throws {
        cache.diskStorage.config.pathExtension = "jpg"
        try await fixture.store("1", by: form)
        #expect(cache.cachePath(forKey: "1").hasSuffix("/" + "1".kf.sha256 + ".jpg"))
        #expect(FileManager.default.fileExists(atPath: cache.cachePath(forKey: "1")))
        cache.clearMemoryCache()
        #expect(cache.imageCachedType(forKey: "1") == .disk)
    }

    /// Upstream: testCannotRetrieveCacheWithProcessorIdentifier,
    /// testRetrieveCacheWithProcessorIdentifier,
    /// testCannotRetrieveCacheWithProcessorIdentifierAsync,
    /// testRetrieveCacheWithProcessorIdentifierAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func theProcessorIsPartOfTheKey(_ form: CacheFixture.Form) async throws {
        let processor = NamedProcessor(identifier: "named(1)")
        try await fixture.store("1", by: form)
        #expect(try await fixture.retrieve("1", [.processor(processor)], by: form).image == nil)
        try await fixture.store("2", [.processor(processor)], by: form)
        #expect(try await fixture.retrieve("2", by: form).image == nil)
        #expect(try await fixture.retrieve("2", [.processor(processor)], by: form).image != nil)
        #expect(cache.isCached(forKey: "2", processorIdentifier: "named(1)"))
        #expect(cache.hash(forKey: "2", processorIdentifier: "named(1)") == "2@named(1)".kf.sha256)
    }

    /// Upstream: testModifierShouldOnlyApplyForFinalResultWhenMemoryLoad,
    /// testModifierShouldOnlyApplyForFinalResultWhenDiskLoad,
    /// testModifierShouldOnlyApplyForFinalResultWhenMemoryLoadAsync,
    /// testModifierShouldOnlyApplyForFinalResultWhenDiskLoadAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func aModifierIsNeverApplied(_ form: CacheFixture.Form) async throws {
        let modifier = AnyImageModifier { _ in
            Issue.record("the cache applied a modifier")
            return testImage(value: 1)
        }
        try await fixture.store("1", [.imageModifier(modifier)], by: form)
        #expect(
            try await fixture.retrieve("1", [.imageModifier(modifier)], by: form).cacheType
                == .memory)
        cache.clearMemoryCache()
        let found = try await fixture.retrieve("1", [.imageModifier(modifier)], by: form)
        #expect(found.cacheType == .disk)
        #expect(try found.image?.bitmap().data == fixture.image.bitmap().data)
    }

    /// Upstream: testStoreToMemoryWithExpiration, testStoreToMemoryWithExpirationAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func theMemoryExpirationIsThatOfTheOptions(_ form: CacheFixture.Form) async throws {
        try await fixture.store("1", [.memoryCacheExpiration(.seconds(0.5))], by: form)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        fixture.clock.advance(1)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
    }

    /// Upstream: testStoreToDiskWithExpiration, testStoreToDiskWithExpirationAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func expiredForTheDiskMeansNoFile(_ form: CacheFixture.Form) async throws {
        try await fixture.store("1", [.diskCacheExpiration(.expired)], by: form)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
        #expect(!cache.diskStorage.isCached(forKey: "1"))
        #expect(!FileManager.default.fileExists(atPath: cache.cachePath(forKey: "1")))
    }

    /// Upstream: testCachedImageIsFetchedSynchronouslyFromTheMemoryCacheAsync
    @Test @MainActor func awaitingAMemoryHitGivesTheIdenticalImage() async throws {
        try await fixture.store("1", toDisk: false)
        let isHere = Locked(false)
        // Runs only if the look-up below gives the main actor away.
        Task { @MainActor in isHere.set(true) }
        let result = try await cache.retrieveImage(forKey: "1", options: fixture.options())
        #expect(!isHere.value)
        #expect(result.image === fixture.image)
        #expect(result.cacheType == .memory)
    }

    /// Upstream: testDefaultCache, testDefaultCacheAsync
    @Test(arguments: CacheFixture.Form.allCases)
    func theDefaultCacheStoresInBothLayers(_ form: CacheFixture.Form) async throws {
        let cache = ImageCache.default
        #expect(cache.diskStorage.config.name == "default")
        let key = UUID().uuidString
        try await fixture.store(key, by: form, in: cache)
        #expect(cache.memoryStorage.isCached(forKey: key))
        #expect(cache.diskStorage.isCached(forKey: key))
        switch form {
        case .awaited: try await cache.removeImage(forKey: key)
        case .calledBack: await handedOver { hand in cache.removeImage(forKey: key) { hand(()) } }
        }
        #expect(!cache.isCached(forKey: key))
    }
}

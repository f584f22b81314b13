import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonStorage

/// Asking where an image is, and cleaning.
@Suite struct ImageCacheTypeAndCleaningTests {
    let folder: TemporaryDirectory
    let cache: ImageCache
    let clock = TestClock()
    let options = KingfisherParsedOptionsInfo([
        .cacheSerializer(PixelSerializer()), .callbackQueue(.untouch),
    ])

    init() throws {
        folder = try TemporaryDirectory()
        let config = DiskStorage.Config(name: "test", sizeLimit: 0, directory: folder.url)
        let disk = DiskStorage.Backend<Data>(config: config, now: { [clock] in clock.now })
        try disk.prepareDirectory()
        cache = ImageCache(
            memoryStorage: .init(config: .init(totalCostLimit: 0), now: { [clock] in clock.now }),
            diskStorage: disk)
    }

    private func type(
        of key: String, on queue: CallbackQueue
    ) async -> (type: CacheType, isMain: Bool)? {
        let log = Recorder<(type: CacheType, isMain: Bool)>()
        cache.imageCachedTypeAsync(forKey: key, callbackQueue: queue) {
            log.record(($0, MainQueue.isCurrent))
        }
        return await log.waitFor(count: 1).first
    }

    /// Upstream: testImageCachedTypeAsyncMemoryHit
    @Test func aMemoryHitIsToldAtOnce() async throws {
        try await cache.store(testImage(), forKey: "1", options: options, toDisk: false)
        let log = Recorder<CacheType>()
        cache.imageCachedTypeAsync(forKey: "1", callbackQueue: .untouch) { log.record($0) }
        #expect(log.events == [.memory])
    }

    /// Upstream: testImageCachedTypeAsyncDiskHitRunsOffMainThreadWhenCallbackUntouch
    @Test func aDiskHitIsToldOffMain() async throws {
        try await cache.store(testImage(), forKey: "1", options: options)
        cache.clearMemoryCache()
        let told = try #require(await type(of: "1", on: .untouch))
        #expect(told == (.disk, false))
    }

    /// Upstream: testImageCachedTypeAsyncNone
    @Test func anUnknownImageIsInNoCache() async throws {
        let told = try #require(await type(of: "unknown", on: .untouch))
        #expect(told.type == .none)
        #expect(await cache.imageCachedTypeAsync(forKey: "unknown") == .none)
    }

    /// Upstream: testImageCachedTypeAsyncDeliversOnMainQueueWhenRequested
    @Test func theAnswerComesOnMainWhenAskedFor() async throws {
        try await cache.store(testImage(), forKey: "1", options: options)
        for queue in [CallbackQueue.mainAsync, .mainCurrentOrAsync] {
            let told = try #require(await type(of: "1", on: queue))
            #expect(told == (.memory, true))
        }
    }

    /// Upstream: testImageCachedTypeAsyncAwaitReturns
    @Test func theAnswerCanBeAwaited() async throws {
        try await cache.store(testImage(), forKey: "1", options: options)
        #expect(await cache.imageCachedTypeAsync(forKey: "1") == .memory)
        cache.clearMemoryCache()
        #expect(await cache.imageCachedTypeAsync(forKey: "1") == .disk)
    }

    /// Upstream: testCleanDiskCacheNotification
    @Test func cleaningPostsTheRemovedFiles() async throws {
        try await cache.storeToDisk(Data([1]), forKey: "1", expiration: .seconds(1))
        try await cache.storeToDisk(Data([2]), forKey: "2")
        clock.advance(2)
        let log = Recorder<[String]>()
        let observer = NotificationCenter.default.addObserver(
            forName: .KingfisherDidCleanDiskCache, object: cache, queue: nil
        ) { note in
            #expect(MainQueue.isCurrent)
            log.record(note.userInfo?[KingfisherDiskCacheCleanedHashKey] as? [String] ?? [])
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let done = Recorder<Int>()
        cache.cleanExpiredDiskCache { done.record(log.count) }
        #expect(await done.waitFor(count: 1) == [1], "the notification comes before the handler")
        #expect(log.events == [[cache.hash(forKey: "1")]])
        #expect(cache.isCached(forKey: "2"))
        await cache.cleanExpiredDiskCache()
        cache.cleanExpiredDiskCache { done.record(log.count) }
        #expect(await done.waitFor(count: 2) == [1, 1], "nothing removed, nothing posted")
    }

    @Test func cleaningRemovesWhatExceedsTheLimit() async throws {
        for key in ["1", "2", "3", "4"] {
            clock.advance(1)
            try await cache.storeToDisk(Data([1]), forKey: key)
        }
        cache.diskStorage.config.sizeLimit = 3
        await cache.cleanExpiredDiskCache()
        #expect(try await cache.diskStorageSize == 1)
        #expect(cache.isCached(forKey: "4"))
    }

    /// Defect: D-1
    @Test func cleaningADeletedFolderEnds() async throws {
        try FileManager.default.removeItem(at: cache.diskStorage.directoryURL)
        await cache.cleanExpiredDiskCache()
        let log = Recorder<Void>()
        cache.cleanExpiredCache { log.record(()) }
        _ = await log.waitFor(count: 1)
    }

    @Test func cleaningRemovesExpiredImagesFromMemory() async throws {
        var options = options
        options.memoryCacheExpiration = .seconds(1)
        try await cache.store(testImage(), forKey: "1", options: options, toDisk: false)
        clock.advance(2)
        #expect(cache.memoryStorageCacheCost > 0)
        await cache.cleanExpiredCache()
        #expect(cache.memoryStorageCacheCost == 0)
    }
}

/// Look-ups that nobody waits for any more.
@Suite struct StaleCacheTests {
    let folder: TemporaryDirectory
    let cache: ImageCache
    let isCurrent = Locked(true)

    init() async throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
        try await cache.store(testImage(), forKey: "1", cacheSerializer: PixelSerializer())
        cache.clearMemoryCache()
    }

    private func lookup(
        _ serializer: PixelSerializer, synchronously: Bool,
        isCurrent: @escaping @Sendable () -> Bool
    ) async throws -> CacheType {
        var options = KingfisherParsedOptionsInfo([.cacheSerializer(serializer)])
        options.loadDiskFileSynchronously = synchronously
        return try await cache.lookup(
            ImageKey("1", options), options: options, isCurrent: isCurrent
        ).cacheType
    }

    /// Upstream: testRetrieveImageInDiskCacheReturnsStaleWithoutCallingSerializerWhenCheckerIsAlreadyFalse
    @Test(arguments: [false, true]) func isNotReadWhenStaleFromTheStart(
        synchronously: Bool
    ) async throws {
        let serializer = PixelSerializer()
        let type = try await lookup(serializer, synchronously: synchronously) { false }
        #expect(type == .none)
        #expect(serializer.decoded == 0)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
    }

    /// Upstream: testRetrieveImageInDiskCacheReturnsImageWhenCheckerStaysTrue
    @Test(arguments: [false, true]) func isDecodedOnceAndPromotedWhenCurrent(
        synchronously: Bool
    ) async throws {
        let serializer = PixelSerializer()
        let type = try await lookup(serializer, synchronously: synchronously) { true }
        #expect(type == .disk)
        #expect(serializer.decoded == 1)
        #expect(cache.imageCachedType(forKey: "1") == .memory)
    }

    /// Upstream: testRetrieveImageInDiskCacheReturnsStaleWhenCheckerTurnsFalseAfterDiskReadBeforeDeserialize
    @Test(arguments: [false, true]) func isNotDecodedWhenStaleAfterReading(
        synchronously: Bool
    ) async throws {
        let serializer = PixelSerializer()
        let asked = Locked(0)
        let type = try await lookup(serializer, synchronously: synchronously) {
            asked.withLock {
                $0 += 1
                return $0 == 1
            }
        }
        #expect(type == .none)
        #expect(asked.value == 2)
        #expect(serializer.decoded == 0)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
    }

    /// Upstream: testRetrieveImageInDiskCacheSkipsBackgroundDecodeWhenCheckerTurnsFalseAfterDeserialize
    @Test(arguments: [false, true]) func isDiscardedWhenStaleAfterDecoding(
        synchronously: Bool
    ) async throws {
        let serializer = PixelSerializer { [isCurrent] in isCurrent.set(false) }
        let type = try await lookup(serializer, synchronously: synchronously) { [isCurrent] in
            isCurrent.value
        }
        #expect(type == .none)
        #expect(serializer.decoded == 1)
        #expect(cache.imageCachedType(forKey: "1") == .disk)
    }

    @Test func memoryHitsDoNotAsk() async throws {
        try await cache.store(testImage(), forKey: "1", cacheSerializer: PixelSerializer())
        let type = try await lookup(PixelSerializer(), synchronously: false) {
            Issue.record("asked for a memory hit")
            return false
        }
        #expect(type == .memory)
    }
}

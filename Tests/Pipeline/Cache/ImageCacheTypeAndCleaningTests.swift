import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Asking where an image is, and cleaning.
@Suite struct ImageCacheTypeAndCleaningTests {
    private let fixture: CacheFixture
    private var cache: ImageCache { fixture.cache }

    init() throws { fixture = try CacheFixture() }

    /// Upstream: testImageCachedTypeAsyncDiskHitRunsOffMainThreadWhenCallbackUntouch,
    /// testImageCachedTypeAsyncNone, testImageCachedTypeAsyncDeliversOnMainQueueWhenRequested
    @Test(arguments: [
        ("disk", CallbackQueue.untouch, CacheType.disk), ("memory", .mainAsync, .memory),
        ("memory", .mainCurrentOrAsync, .memory), ("unknown", .untouch, .none),
    ])
    func theTypeIsToldOnTheQueueAskedFor(
        key: String, queue: CallbackQueue, type: CacheType
    ) async throws {
        try await fixture.storeOnDisk("disk")
        try await fixture.store("memory")
        let told: (CacheType, Bool) = await handedOver { hand in
            cache.imageCachedTypeAsync(forKey: key, callbackQueue: queue) {
                hand(($0, MainQueue.isCurrent))
            }
        }
        #expect(told == (type, type == .memory))
    }

    /// Upstream: testImageCachedTypeAsyncAwaitReturns
    @Test func theAnswerCanBeAwaited() async throws {
        #expect(await cache.imageCachedTypeAsync(forKey: "1") == .none)
        try await fixture.store("1")
        #expect(await cache.imageCachedTypeAsync(forKey: "1") == .memory)
        cache.clearMemoryCache()
        #expect(await cache.imageCachedTypeAsync(forKey: "1") == .disk)
    }

    /// Upstream: testCleanDiskCacheNotification
    @Test func cleaningPostsTheRemovedFiles() async throws {
        try await cache.storeToDisk(Data([1]), forKey: "1", expiration: .seconds(1))
        try await cache.storeToDisk(Data([2]), forKey: "2")
        fixture.clock.advance(2)
        await cache.recordingCleanings { log in
            let done = Recorder<Int>()
            cache.cleanExpiredDiskCache { done.record(log.count) }
            #expect(
                await done.waitFor(count: 1) == [1], "the notification comes before the handler")
            #expect(log.events == [[cache.hash(forKey: "1")]])
            #expect(cache.isCached(forKey: "2"))
            await cache.cleanExpiredDiskCache()
            cache.cleanExpiredDiskCache { done.record(log.count) }
            #expect(await done.waitFor(count: 2) == [1, 1], "nothing removed, nothing posted")
        }
    }

    /// Upstream: testMaxDiskCacheSize
    @Test func cleaningRemovesWhatExceedsTheLimit() async throws {
        for key in ["1", "2", "3", "4"] {
            fixture.clock.advance(1)
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
        try await fixture.store("1", [.memoryCacheExpiration(.seconds(1))], toDisk: false)
        fixture.clock.advance(2)
        #expect(cache.memoryStorageCacheCost > 0)
        await cache.cleanExpiredCache()
        #expect(cache.memoryStorageCacheCost == 0)
    }
}

/// Look-ups that nobody waits for any more.
@Suite struct StaleCacheTests {
    private let fixture: CacheFixture
    private var cache: ImageCache { fixture.cache }

    init() async throws {
        fixture = try CacheFixture()
        try await fixture.storeOnDisk("1")
    }

    private func lookup(
        _ other: PixelSerializer? = nil, synchronously: Bool,
        isCurrent: @escaping @Sendable () -> Bool
    ) async throws -> CacheType {
        var options = KingfisherParsedOptionsInfo([.cacheSerializer(other ?? fixture.serializer)])
        options.loadDiskFileSynchronously = synchronously
        return try await cache.lookup(
            ImageKey("1", options), options: options, isCurrent: isCurrent
        ).cacheType
    }

    /// When a look-up becomes stale: at the start, after reading, after decoding, or never.
    enum Staleness: Int, CaseIterable { case atTheStart, afterReading, afterDecoding, never }

    /// Upstream: testRetrieveImageInDiskCacheReturnsStaleWithoutCallingSerializerWhenCheckerIsAlreadyFalse,
    /// testRetrieveImageInDiskCacheReturnsStaleWhenCheckerTurnsFalseAfterDiskReadBeforeDeserialize,
    /// testRetrieveImageInDiskCacheSkipsBackgroundDecodeWhenCheckerTurnsFalseAfterDeserialize,
    /// testRetrieveImageInDiskCacheReturnsImageWhenCheckerStaysTrue
    @Test(arguments: Staleness.allCases, [false, true])
    func aStaleLookUpDoesNoMoreAndIsAMiss(
        staleness: Staleness, synchronously: Bool
    ) async throws {
        let (asked, isDecoded) = (Locked(0), Locked(false))
        let serializer = PixelSerializer { isDecoded.set(true) }
        let type = try await lookup(serializer, synchronously: synchronously) {
            asked.withLock { $0 += 1 }
            return switch staleness {
            case .atTheStart: false
            case .afterReading: asked.value < 2
            case .afterDecoding: !isDecoded.value
            case .never: true
            }
        }
        let isCurrent = staleness == .never
        #expect(type == (isCurrent ? CacheType.disk : CacheType.none))
        if staleness == .afterReading { #expect(asked.value == 2) }
        #expect(serializer.decoded == (staleness.rawValue < 2 ? 0 : 1))
        let cached = cache.imageCachedType(forKey: "1")
        #expect(cached == (isCurrent ? CacheType.memory : CacheType.disk))
    }

    @Test func memoryHitsDoNotAsk() async throws {
        try await fixture.store("1")
        let type = try await lookup(synchronously: false) {
            Issue.record("asked for a memory hit")
            return false
        }
        #expect(type == .memory)
    }
}

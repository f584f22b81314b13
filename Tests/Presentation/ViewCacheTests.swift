import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ViewCacheTests {
    private let view = HeadlessImageView()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    /// Upstream: testMemoryImageCacheExtendingExpirationTask,
    /// testMemoryImageCacheNotExtendingExpirationTask, testDiskImageCacheExtendingExpirationTask,
    /// testDiskImageCacheNotExtendingExpirationTask
    @Test(arguments: [CacheType.memory, .disk], [true, false])
    func showingAnImageMayExtendItsLife(where place: CacheType, _ extends: Bool) async throws {
        let aged = try await AgedCache()
        let isOnDisk = place == .disk
        let extending: ExpirationExtending = extends ? .expirationTime(.seconds(100)) : .none
        let life = StorageExpiration.seconds(10)
        _ = await aged.show([isOnDisk ? .diskCacheExpiration(life) : .memoryCacheExpiration(life)])
        if isOnDisk { aged.cache.clearMemoryCache() }
        aged.clock.advance(9)
        let shown = await aged.show([
            isOnDisk
                ? .diskCacheAccessExtendingExpiration(extending)
                : .memoryCacheAccessExtendingExpiration(extending)
        ])
        #expect(shown.value?.cacheType == place)
        if isOnDisk { aged.cache.clearMemoryCache() }
        aged.clock.advance(90)
        #expect(aged.cachedType == (extends ? place : isOnDisk ? .none : .disk))
    }

    /// Upstream: testSetGIFImageOnlyFirstFrameThenFullFrames, testLoadGIFImageWithDifferentOptions
    @Test(arguments: [[1, 8], [8, 1]])
    func theFirstFrameAndTheWholeAnimationFollowEachOther(_ counts: [Int]) async throws {
        let frames = (1...8).map {
            GIFFixture.Frame(.solid(Pixel(UInt8($0 * 20), 0, 0), width: 6, height: 4), delay: 10)
        }
        fixture.origin.route(
            "/banana.gif", .ok(GIFFixture.data(frames, loopCount: 0), contentType: "image/gif"))
        for count in counts {
            let options: KingfisherOptionsInfo = count == 1 ? [.onlyLoadFirstFrame] : []
            _ = await fixture.show(fixture.origin.url("/banana.gif"), in: view, options)
            #expect(view.image?.frameCount == count)
            #expect((view.image?.animation != nil) == (count > 1))
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func onlyViewsThatWantItHaveAllFramesDecodedAhead() async throws {
        for preloads in [true, false] {
            let view = HeadlessImageView(preloadsAllAnimationData: preloads)
            let seen = Recorder<Bool>()
            let processor = ClosureProcessor { item, options in
                seen.record(options.preloadAllAnimationData)
                return DefaultImageProcessor.default.process(item: item, options: options)
            }
            _ = await fixture.show(
                fixture.url(width: 1), in: view, [.processor(processor), .forceRefresh])
            #expect(seen.events.first == preloads)
        }
    }
}

/// An image on the network with a cache whose time passes when told.
@MainActor private final class AgedCache {
    let clock = TestClock()
    let cache: ImageCache
    private let fixture: PresentationFixture

    init() async throws {
        let clock = clock
        fixture = try await PresentationFixture()
        cache = ImageCache(
            memoryStorage: MemoryStorage.Backend(
                config: MemoryStorage.Config(totalCostLimit: 1 << 24), now: { clock.now }),
            diskStorage: DiskStorage.Backend(
                config: DiskStorage.Config(
                    name: "aged", sizeLimit: 0, directory: fixture.folder.url),
                now: { clock.now }))
    }

    var cachedType: CacheType { cache.imageCachedType(forKey: fixture.url(width: 1).cacheKey) }

    func show(_ options: KingfisherOptionsInfo) async -> SettingResult {
        await fixture.show(
            fixture.url(width: 1), in: HeadlessImageView(), [.targetCache(cache)] + options)
    }
}

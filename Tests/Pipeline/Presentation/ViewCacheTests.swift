import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ViewCacheTests {
    /// Upstream: testStaleDiskCacheRetrievalDoesNotPromoteToMemoryWhenSuperseded
    @Test(.holdingThreads) func aSupersededDiskImageIsNotPutIntoMemory() async throws {
        let fixture = try await PresentationFixture()
        try await fixture.cacheOnDisk(width: 1)
        try await fixture.cacheOnDisk(width: 2)
        let view = HeadlessImageView()
        let results = Results()
        let held = HeldSerializer()
        view.kf.setImage(
            with: fixture.url(width: 1), options: fixture.using([.cacheSerializer(held)]),
            completionHandler: results.add(0))
        try await held.waitUntilReading()
        view.kf.setImage(
            with: fixture.url(width: 2), options: fixture.options, completionHandler: results.add(1)
        )
        held.letGoOn()
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isNotCurrentTask == true)
        #expect(all[1].value?.cacheType == .disk)
        #expect(fixture.cachedType(width: 1) == .disk)
        #expect(fixture.cachedType(width: 2) == .memory)
        #expect(fixture.origin.requestCount == 0)
    }

    /// Upstream: testSettingTwoDiskCachedImagesOnSameViewCallsEachCompletionExactlyOnce
    @Test func ofTwoDiskImagesOneIsStaleAndOneIsShown() async throws {
        let fixture = try await PresentationFixture()
        try await fixture.cacheOnDisk(width: 1)
        try await fixture.cacheOnDisk(width: 2)
        let view = HeadlessImageView()
        let results = Results()
        for width in [1, 2] {
            view.kf.setImage(
                with: fixture.url(width: width), options: fixture.options,
                completionHandler: results.add(width))
        }
        let all = await results.wait(for: 2)
        #expect(all[0].error?.isNotCurrentTask == true)
        #expect(all[1].width == 2)
        #expect(results.count == 2)
        #expect(view.image?.pixelSize.width == 2)
    }

    /// Upstream: testCancelDownloadTaskCancelsDiskCacheRetrieval
    @Test(.holdingThreads) func cancellingDuringADiskReadKeepsTheImageOutOfMemory() async throws {
        let fixture = try await PresentationFixture()
        try await fixture.cacheOnDisk(width: 1)
        let view = HeadlessImageView()
        let results = Results()
        let held = HeldSerializer()
        view.kf.setImage(
            with: fixture.url(width: 1), options: fixture.using([.cacheSerializer(held)]),
            completionHandler: results.add())
        try await held.waitUntilReading()
        view.kf.cancelDownloadTask()
        held.letGoOn()
        #expect(await results.wait(for: 1)[0].error?.errorCode == 3006)
        #expect(fixture.cachedType(width: 1) == .disk)
        #expect(view.image == nil)
    }

    /// Upstream: testMemoryImageCacheExtendingExpirationTask,
    /// testMemoryImageCacheNotExtendingExpirationTask
    @Test(arguments: [true, false])
    func showingAnImageInMemoryMayExtendItsLife(_ extends: Bool) async throws {
        let aged = try await AgedCache()
        _ = await aged.show([.memoryCacheExpiration(.seconds(10))])
        aged.clock.advance(9)
        let extending: ExpirationExtending = extends ? .expirationTime(.seconds(100)) : .none
        let shown = await aged.show([.memoryCacheAccessExtendingExpiration(extending)])
        #expect(shown.value?.cacheType == .memory)
        aged.clock.advance(90)
        #expect(aged.cachedType == (extends ? .memory : .disk))
    }

    /// Upstream: testDiskImageCacheExtendingExpirationTask,
    /// testDiskImageCacheNotExtendingExpirationTask
    @Test(arguments: [true, false])
    func showingADiskImageMayExtendItsLife(_ extends: Bool) async throws {
        let aged = try await AgedCache()
        _ = await aged.show([.diskCacheExpiration(.seconds(2))])
        aged.cache.clearMemoryCache()
        aged.clock.advance(1)
        let extending: ExpirationExtending = extends ? .expirationTime(.seconds(4)) : .none
        let shown = await aged.show([.diskCacheAccessExtendingExpiration(extending)])
        #expect(shown.value?.cacheType == .disk)
        aged.cache.clearMemoryCache()
        aged.clock.advance(2)
        #expect(aged.cachedType == (extends ? CacheType.disk : .none))
    }

    /// Upstream: testSetGIFImageOnlyFirstFrameThenFullFrames
    @Test func theFirstFrameIsFollowedByTheWholeAnimation() async throws {
        try await expectFrames([[.onlyLoadFirstFrame], []], are: [1, 8])
    }

    /// Upstream: testLoadGIFImageWithDifferentOptions
    @Test func theWholeAnimationIsFollowedByTheFirstFrame() async throws {
        try await expectFrames([[], [.onlyLoadFirstFrame]], are: [8, 1])
    }

    private func expectFrames(_ loads: [KingfisherOptionsInfo], are counts: [Int]) async throws {
        let fixture = try await PresentationFixture()
        let frames = (1...8).map {
            GIFFixture.Frame(
                .solid(Pixel(UInt8($0 * 20), 0, 0), width: 6, height: 4), delay: 10)
        }
        fixture.origin.route(
            "/banana.gif", .ok(GIFFixture.data(frames, loopCount: 0), contentType: "image/gif"))
        let view = HeadlessImageView()
        for (options, count) in zip(loads, counts) {
            _ = await fixture.show(fixture.origin.url("/banana.gif"), in: view, options)
            #expect(view.image?.frameCount == count)
            #expect((view.image?.animation != nil) == (count > 1))
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func onlyViewsThatWantItHaveAllFramesDecodedAhead() async throws {
        let fixture = try await PresentationFixture()
        for preloads in [true, false] {
            let view = HeadlessImageView(preloadsAllAnimationData: preloads)
            let seen = SeenOptions()
            _ = await fixture.show(
                fixture.url(width: 1), in: view, [.processor(seen), .forceRefresh])
            #expect(seen.preloads.events.first == preloads)
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

    var cachedType: CacheType {
        cache.imageCachedType(forKey: fixture.url(width: 1).cacheKey)
    }

    func show(_ options: KingfisherOptionsInfo) async -> SettingResult {
        await fixture.show(
            fixture.url(width: 1), in: HeadlessImageView(), [.targetCache(cache)] + options)
    }
}

/// A processor that notes whether it was asked for all frames.
private struct SeenOptions: ImageProcessor {
    let identifier = "test.seen-options"
    let preloads = Recorder<Bool>()

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        preloads.record(options.preloadAllAnimationData)
        return DefaultImageProcessor.default.process(item: item, options: options)
    }
}

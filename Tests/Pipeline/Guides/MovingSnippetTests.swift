import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Runs the code of the guides for who moves over from another library.
@Suite struct MovingSnippetTests {
    let fixture: ManagerFixture

    init() async throws {
        fixture = try await ManagerFixture()
    }

    @MainActor @Test func aBuilderLoadsIntoAView() async throws {
        let clock = ManualClock()
        let view = HeadlessImageView(clock: clock)
        let done = Recorder<CacheType>()
        let cache = try ImageCache(name: "moving", cacheDirectoryURL: fixture.folder.url)
        MovingSnippets.builder(fixture.url, fixture.origin.url("/low.png"), cache, view) {
            done.record($0)
        }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(0.25))
        #expect(await done.waitFor(count: 1) == [.none])
        #expect(view.image?.pixelSize == PixelSize(width: 64, height: 48))
        #expect(try await cache.diskStorageSize == 0)
    }

    @Test func aServiceHasLimitsAndFollowsTheRulesOfHTTP() async throws {
        let manager = try MovingSnippets.server(fixture.folder.url)
        #expect(manager.cache.diskStorage.config.sizeLimit == 10 << 30)
        let result = try await manager.retrieveImage(with: fixture.url)
        #expect(result.httpCacheUse != nil)
    }

    @Test func anAvatarIsSquareAndRound() async throws {
        let image = try await MovingSnippets.pipeline(fixture.manager, fixture.url)
        #expect(image.pixelSize == PixelSize(width: 96, height: 96))
        #expect(try image.bitmap().hasAlpha)
    }

    @Test func bytesAreHadWithoutACache() async throws {
        let data = try await MovingSnippets.bytes(.patient("bytes"), fixture.url)
        #expect(data == fixture.png)
    }

    @Test func theOriginalIsKeptBesideTheThumbnail() async throws {
        let options = MovingSnippets.originals() + [.waitForCache]
        _ = try await fixture.manager.retrieveImage(with: fixture.url, options: options)
        #expect(fixture.cache.isCached(forKey: fixture.url.cacheKey))
    }

    @MainActor @Test func aViewTellsWhereItsImageCameFrom() async throws {
        let view = HeadlessImageView()
        let done = Recorder<String>()
        let placeholder = try #require(Image(data: fixture.png))
        // Not the shared cache of the program, where it may be already.
        let url = fixture.origin.url("/\(UUID().uuidString).png")
        fixture.origin.route(url.path, .png(fixture.png))
        MovingSnippets.view(url, placeholder, view) { done.record($0) }
        #expect(await done.waitFor(count: 1) == ["from none"])
        try await ImageCache.default.removeImage(forKey: url.cacheKey)
    }

    @Test func aStalePictureIsShownAtOnce() async throws {
        let fixture = try await FreshnessFixture()
        fixture.serve(30, "max-age=60", tag: "\"1\"")
        #expect(try await fixture.got(MovingSnippets.refresh()) == "30 fetched")
        fixture.pass(120)
        #expect(try await fixture.got(MovingSnippets.refresh()) == "30 stale revalidating")
    }

    @Test func aListIsReducedToItsCells() async throws {
        let image = try await fixture.manager.retrieveImage(
            with: fixture.url, options: MovingSnippets.list()
        ).image
        #expect(image.scale == 2)
    }

    @Test func aThumbnailIsStoredAsWebP() async throws {
        let options = MovingSnippets.smallFiles()
        _ = try await fixture.manager.retrieveImage(
            with: fixture.url, options: options + [.waitForCache])
        let processor = DownsamplingImageProcessor(size: CGSize(width: 48, height: 48))
        let file = try #require(
            fixture.cache.cacheFileURLIfOnDisk(
                forKey: fixture.url.cacheKey, processorIdentifier: processor.identifier))
        #expect(try Data(contentsOf: file).kf.imageFormat == .WebP)
    }

    @Test func whatIsCancelledIsNoFailure() async throws {
        let shown = Recorder<Image>()
        try await MovingSnippets.ends(fixture.manager, fixture.url) { shown.record($0) }
        #expect(shown.count == 1)
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(Gate()))))
        let (manager, url) = (fixture.manager, fixture.origin.url("/slow.png"))
        let task = Task { try await MovingSnippets.ends(manager, url) { shown.record($0) } }
        task.cancel()
        try await task.value
        #expect(shown.count == 1)
        let missing = fixture.origin.url("/missing.png")
        await #expect(throws: KingfisherError.self) {
            try await MovingSnippets.ends(manager, missing) { shown.record($0) }
        }
    }

    @Test func anActorKeepsImages() async throws {
        let album = MovingSnippets.Album()
        try await album.add(fixture.url, by: fixture.manager)
        #expect(await album.pages[fixture.url]?.pixelSize == PixelSize(width: 64, height: 48))
    }

    @Test func aMissingPictureIsAskedForOnceInAWhile() async throws {
        let url = fixture.origin.url("/missing.png")
        for _ in 0..<2 {
            let options =
                MovingSnippets.failures()
                + [.retryStrategy(DelayRetryStrategy(maxRetryCount: 0))]
            let error = await kingfisherError {
                _ = try await fixture.manager.retrieveImage(with: url, options: options)
            }
            #expect(error?.isInvalidResponseStatusCode(404) == true)
        }
        #expect(fixture.origin.requestCount(for: "/missing.png") == 1)
    }

    @Test func anUploadHasLimits() async throws {
        let downloader = ImageDownloader.patient("uploads")
        let options = MovingSnippets.limits(downloader)
        #expect(downloader.maximumResponseSize == 10 << 20)
        let result = try await fixture.manager.retrieveImage(
            with: fixture.url, options: options + [.downloader(downloader)])
        #expect(result.image.pixelSize.width == 64)
    }
}

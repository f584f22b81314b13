import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Runs the code of the guides on an origin of this process.
@Suite struct GuideSnippetTests {
    let fixture: ManagerFixture

    init() async throws {
        fixture = try await ManagerFixture()
    }

    private var image: Image { Image(data: fixture.png)! }

    // MARK: Getting started

    @Test func optionsAskForASmallerImage() async throws {
        let image = try await GuideSnippets.options(fixture.manager, fixture.url)
        #expect(image.pixelSize == PixelSize(width: 32, height: 24))
    }

    @Test func anImageIsSavedAsJPEG() throws {
        let file = fixture.folder.file("saved.jpg")
        try GuideSnippets.save(image, to: file)
        #expect(try Data(contentsOf: file).kf.imageFormat == .JPEG)
    }

    @Test func aManagerOfOnesOwnHasItsFolderAndOptions() async throws {
        let manager = try GuideSnippets.manager(fixture.folder.url)
        let result = try await manager.retrieveImage(with: fixture.url)
        #expect(result.image.pixelSize == PixelSize(width: 16, height: 12))
        #expect(manager.cache.diskStorage.directoryURL.path.hasPrefix(fixture.folder.url.path))
    }

    @Test func aMissingImageIsNone() async throws {
        #expect(try await GuideSnippets.errors(fixture.manager, fixture.url) != nil)
        let missing = fixture.origin.url("/missing.png")
        #expect(try await GuideSnippets.errors(fixture.manager, missing) == nil)
    }

    @Test func callbacksAreCalled() async {
        let shown = Recorder<Image>()
        let reported = Recorder<KingfisherError>()
        for url in [fixture.url, fixture.origin.url("/missing.png")] {
            let task = GuideSnippets.callback(
                fixture.manager, url, show: { shown.record($0) }, report: { reported.record($0) })
            #expect(task != nil)
        }
        #expect(await shown.waitFor(count: 1)[0].pixelSize.width == 64)
        #expect(await reported.waitFor(count: 1)[0].isInvalidResponseStatusCode(404))
    }

    @Test func filesAndBytesAreSources() async throws {
        let file = try fixture.folder.write(fixture.png, to: "photo.png")
        let images = try await GuideSnippets.sources(fixture.manager, file, fixture.png)
        #expect(images.map(\.pixelSize.width) == [64, 64])
        #expect(fixture.origin.requestCount == 0)
    }

    // MARK: Caching

    @Test func limitsAreSet() {
        GuideSnippets.limits(fixture.cache)
        #expect(fixture.cache.memoryStorage.config.totalCostLimit == 67_108_864)
        #expect(fixture.cache.memoryStorage.config.expiration.timeInterval == 600)
        #expect(fixture.cache.diskStorage.config.sizeLimit == 524_288_000)
        #expect(fixture.cache.diskStorage.config.expiration.timeInterval == 2_592_000)
    }

    @Test func aKeyIsUsedInPlaceOfTheAddress() async throws {
        _ = try await GuideSnippets.key(fixture.manager, fixture.url)
        #expect(fixture.cache.isCached(forKey: "avatar-42"))
        #expect(!fixture.cache.isCached(forKey: fixture.url.cacheKey))
    }

    @Test func theProcessorBelongsToTheKey() async throws {
        _ = try await fixture.retrieve()
        #expect(GuideSnippets.look(fixture.cache, fixture.url) == (.none, nil))
        _ = try await fixture.retrieve([.processor(BlurImageProcessor(blurRadius: 4))])
        let (place, file) = GuideSnippets.look(fixture.cache, fixture.url)
        #expect(place == .memory && file != nil)
    }

    @Test func optionsChangeHowOneImageIsCached() async throws {
        let processor = BlurImageProcessor(blurRadius: 4)
        _ = try await fixture.retrieve(GuideSnippets.cacheOptions() + [.processor(processor)])
        let path = fixture.cache.cachePath(
            forKey: fixture.url.cacheKey, processorIdentifier: processor.identifier)
        let stored = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(stored.kf.imageFormat == .WebP)
        #expect(fixture.cache.imageCachedType(forKey: fixture.url.cacheKey) == .disk)
    }

    @Test func imagesAreStoredAndRemovedDirectly() async throws {
        #expect(try await GuideSnippets.direct(fixture.cache, image)?.pixelSize.width == 64)
        #expect(!fixture.cache.isCached(forKey: "avatar-42"))
    }

    @Test func theCacheTellsItsSizeAndIsCleared() async throws {
        _ = try await fixture.retrieve()
        #expect(try await GuideSnippets.clean(fixture.cache) >= UInt(fixture.png.count))
        #expect(!fixture.cache.isCached(forKey: fixture.url.cacheKey))
    }

    // MARK: Processing

    @Test func aChainMakesARoundThumbnail() async throws {
        let avatar = try await GuideSnippets.chain(fixture.manager, fixture.url)
        #expect(avatar.pixelSize == PixelSize(width: 40, height: 30))
        #expect(try avatar.bitmap()[0, 0].alpha == 0)
    }

    @Test func anImageIsProcessedWithoutAManager() async throws {
        let image = try await GuideSnippets.image(fixture.png)
        #expect(image.pixelSize == PixelSize(width: 32, height: 32))
    }

    @Test func aProcessorIsReadFromText() async throws {
        let image = try await GuideSnippets.text(fixture.manager, fixture.url)
        #expect(image.pixelSize == PixelSize(width: 32, height: 24))
    }

    @Test func aProcessorOfOnesOwnMakesAPostcard() async throws {
        let image = try await fixture.retrieve([.processor(PostcardProcessor())]).image
        #expect(image.pixelSize == PixelSize(width: 48, height: 32))
        #expect(try image.bitmap()[0, 0].red > 0.99 && image.bitmap()[47, 31].green > 0.99)
    }

    // MARK: Downloading

    @Test func theDownloaderGivesImageAndBytes() async throws {
        let (image, bytes) = try await GuideSnippets.download(fixture.downloader, fixture.url)
        #expect(image.pixelSize.width == 64 && bytes == fixture.png)
    }

    @Test func theModifierSetsTheToken() async throws {
        _ = try await GuideSnippets.modify(fixture.manager, fixture.url, "secret")
        let request = try #require(fixture.origin.requests(for: "/photo.png").first)
        #expect(request.headers["Authorization"] == "Bearer secret")
    }

    @Test func theMirrorIsAskedWhenTheSourceFails() async throws {
        let missing = fixture.origin.url("/missing.png")
        let result = try await GuideSnippets.recover(
            fixture.manager, missing, fixture.url, pause: 0)
        #expect(fixture.origin.requestCount(for: "/missing.png") == 4)
        #expect(result.source == .network(fixture.url))
        #expect(result.originalSource == .network(missing))
    }

    @Test func theDownloaderHasLimits() {
        GuideSnippets.limits(fixture.downloader)
        #expect(fixture.downloader.downloadTimeout == 10)
        #expect(fixture.downloader.maximumDownloadDuration == 120)
        #expect(fixture.downloader.maximumResponseSize == 20_971_520)
        #expect(fixture.downloader.maximumConnectionsPerHost == 4)
        #expect(fixture.downloader.decodingLimits.maximumPixelCount == 40_000_000)
    }

    @Test func pinsAreAskedForOnHTTPSOnly() async throws {
        GuideSnippets.pin(fixture.downloader, [])
        #expect(fixture.downloader.serverTrustEvaluator != nil)
        _ = try await fixture.retrieve()
    }

    @Test func aCancelledTaskFails() async {
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(Gate()))))
        #expect(await GuideSnippets.cancel(fixture.manager, fixture.origin.url("/slow.png")))
    }

    // MARK: Prefetching

    @Test func aPrefetcherLoadsWhatIsMissing() async {
        let done = Recorder<[Int]>()
        let urls = [fixture.url, fixture.origin.url("/missing.png")]
        let options = GuideSnippets.options(fixture.cache, fixture.downloader)
        GuideSnippets.prefetch(urls, options) { done.record([$0, $1, $2]) }
        #expect(await done.waitFor(count: 1) == [[0, 1, 1]])
        GuideSnippets.prefetch(urls, options) { done.record([$0, $1, $2]) }
        #expect(await done.waitFor(count: 2)[1] == [1, 1, 0])
    }

    @Test func aPrefetcherTellsWhySourcesFailed() async {
        let done = Recorder<Void>()
        let url = fixture.origin.url("/missing.png")
        let prefetcher = ImagePrefetcher(
            urls: [url], options: GuideSnippets.options(fixture.cache, fixture.downloader)
        ) { _, _, _ in done.record(()) }
        prefetcher.start()
        await done.waitFor(count: 1)
        let reasons = GuideSnippets.reasons(prefetcher)
        #expect(reasons.count == 1 && reasons[0].hasPrefix(url.absoluteString))
        #expect(reasons[0].contains("404"))
    }

    @Test func aStoppedPrefetcherHasFailed() async {
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(Gate()))))
        let sources = [Source.network(fixture.origin.url("/slow.png"))]
        let options = GuideSnippets.options(fixture.cache, fixture.downloader)
        let done = Recorder<Int>()
        GuideSnippets.stop(sources, options) { done.record($0) }
        #expect(await done.waitFor(count: 1) == [1])
    }
}

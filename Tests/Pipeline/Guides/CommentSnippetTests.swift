import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing
import Vips

@testable import Halcyon

/// Runs the examples in the documentation of types on an origin of this process.
@Suite struct CommentSnippetTests {
    private let fixture: ManagerFixture

    init() async throws {
        fixture = try await ManagerFixture()
    }

    @Test func aManagerMakesAThumbnail() async throws {
        let result = try await CommentSnippets.manager(fixture.manager, fixture.url)
        #expect(result.image.pixelSize == PixelSize(width: 32, height: 24))
        #expect(result.cacheType == .none)
    }

    @Test func whatIsStoredIsFoundInMemory() async throws {
        let image = try #require(Image(data: fixture.png))
        let (cache, type) = try await CommentSnippets.cache(fixture.folder.url, image)
        #expect(type == .memory)
        #expect(cache.memoryStorage.config.totalCostLimit == 67_108_864)
        #expect(cache.diskStorage.config.sizeLimit == 524_288_000)
        #expect(cache.diskStorage.isCached(forKey: "user-42"))
    }

    @Test func aDownloaderGivesImageAndBytes() async throws {
        let result = try await CommentSnippets.downloader(fixture.url)
        #expect(result.image.pixelSize == PixelSize(width: 64, height: 48))
        #expect(result.originalData == fixture.png)
    }

    @Test func aPrefetcherTellsWhatBecameOfEach() async {
        let done = Recorder<[Int]>()
        CommentSnippets.prefetcher(
            [fixture.url, fixture.origin.url("/missing.png")],
            [.targetCache(fixture.cache), .downloader(fixture.downloader)],
            report: { done.record($0) })
        #expect(await done.waitFor(count: 1) == [[0, 1, 1]])
        #expect(fixture.cache.isCached(forKey: fixture.url.cacheKey))
    }

    @Test @MainActor func aBuilderSetsTheImageOfAView() async throws {
        let view = HeadlessImageView()
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        CommentSnippets.builder(fixture.url, fixture.cache, view) { results.record($0) }
        let image = try await results.waitFor(count: 1)[0].get().image
        #expect(view.image === image && image.pixelSize == PixelSize(width: 32, height: 24))
        #expect(try image.bitmap()[0, 0].alpha == 0)
    }

    @Test func anImageIsCutAndWritten() throws {
        let jpeg = try CommentSnippets.image(fixture.png)
        #expect(jpeg.kf.imageFormat == .JPEG)
        #expect(Image(data: jpeg)?.pixelSize == PixelSize(width: 48, height: 48))
    }

    @Test func aProcessorOfOnesOwnHasItsKey() async throws {
        let processor = FadedPicture(width: 16)
        let image = try await fixture.retrieve([.processor(processor)]).image
        #expect(image.pixelSize == PixelSize(width: 16, height: 12))
        #expect(
            fixture.cache.isCached(
                forKey: fixture.url.cacheKey,
                processorIdentifier: "org.example.FadedPicture(16.0)"))
    }

    @Test func aSerializerOfOnesOwnWritesItsFormat() async throws {
        _ = try await fixture.retrieve([.cacheSerializer(SmallFiles())])
        let file = try #require(fixture.cache.cacheFileURLIfOnDisk(forKey: fixture.url.cacheKey))
        #expect(try Data(contentsOf: file).kf.imageFormat == .WebP)
        fixture.cache.clearMemoryCache()
        let found = try await fixture.retrieve([.cacheSerializer(SmallFiles())])
        #expect(found.cacheType == .disk && found.image.pixelSize.width == 64)
    }

    @Test func aPhotoHasHashesAndColors() async throws {
        let photo = Picture.noise(width: 8, height: 6, hasAlpha: false).image(hasAlpha: false)
            .kf.resize(to: CGSize(width: 64, height: 48))
        let (hash, preview) = try await CommentSnippets.hash(photo)
        #expect(hash.columns == 4 && hash.rows == 3)
        #expect(preview.size == PixelSize(width: 32, height: 24))
        let copy = photo.kf.resize(to: CGSize(width: 200, height: 150))
        #expect(try await CommentSnippets.likeness(photo, copy) <= 10)
        let (background, title) = try await CommentSnippets.colors(photo)
        #expect(background.contrastRatio(to: title) >= 4.5)
    }

    @Test func aWatermarkIsLaidOverTheImage() async throws {
        let logo = PNGFixture.data(.solid(.white, width: 4, height: 4))
        let mark = CommentSnippets.watermark(try #require(Image(data: logo)))
        let image = try await fixture.retrieve([.processor(mark)]).image
        #expect(image.pixelSize == PixelSize(width: 64, height: 48))
        #expect(
            fixture.cache.isCached(
                forKey: fixture.url.cacheKey, processorIdentifier: mark.identifier))
    }

    @Test func aDownloaderStaysOutOfPrivateNetworks() async {
        CommentSnippets.addresses(fixture.downloader)
        await #expect(throws: KingfisherError.self) { try await fixture.retrieve() }
        #expect(fixture.origin.requestCount == 0)
    }

    @Test func anOperationIsRunByItsName() throws {
        let png = PNGFixture.data(.solid(.white, width: 2, height: 2))
        let image = try VipsImage.load("pngload_buffer", bytes: png)
        #expect(try CommentSnippets.brightest(image) == 255)
    }

    @Test func aRouteWaitsAndAnswers() async throws {
        let gate = Gate()
        CommentSnippets.route(fixture.origin, fixture.png, gate)
        gate.open()
        let url = fixture.origin.url("/cat.png")
        let image = try await fixture.manager.retrieveImage(with: url).image
        #expect(image.pixelSize == PixelSize(width: 64, height: 48))
    }
}

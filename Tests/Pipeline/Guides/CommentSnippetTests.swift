import Foundation
import FoundationNetworking
import Halcyon
import HalcyonTestKit
import Testing
import Vips

/// The code in the documentation of types, each piece between two markers that name its file, as in
/// `GuideSnippetTests`.
@Suite struct CommentSnippetTests {
    private let fixture: ManagerFixture

    init() async throws { fixture = try await ManagerFixture() }

    private var url: URL { fixture.url }

    @Test func aManagerMakesAThumbnail() async throws {
        let manager = fixture.manager
        // guide: KingfisherManager/example
        manager.defaultOptions = [.diskCacheExpiration(.days(30))]

        let thumbnail = DownsamplingImageProcessor(size: CGSize(width: 32, height: 32))
        let result = try await manager.retrieveImage(with: url, options: [.processor(thumbnail)])
        print(result.image.size, result.cacheType)
        // end
        #expect(result.image.pixelSize == PixelSize(width: 32, height: 24))
        #expect(result.cacheType == .none)
    }

    @Test func whatIsStoredIsFoundInMemory() async throws {
        let avatar = try #require(Image(data: fixture.png))
        let folder = fixture.folder.url
        // guide: ImageCache/example
        let cache = try ImageCache(name: "avatars", cacheDirectoryURL: folder)
        cache.memoryStorage.config.totalCostLimit = 64 << 20
        cache.diskStorage.config.sizeLimit = 500 << 20

        try await cache.store(avatar, forKey: "user-42")
        let found = try await cache.retrieveImage(forKey: "user-42")
        print(found.cacheType, found.image?.pixelSize ?? "nothing")
        // end
        #expect(found.cacheType == .memory)
        #expect(cache.diskStorage.isCached(forKey: "user-42"))
    }

    @Test func aDownloaderGivesImageAndBytes() async throws {
        // guide: ImageDownloader/example
        let downloader = ImageDownloader(name: "avatars")
        downloader.maximumResponseSize = 4 << 20

        let result = try await downloader.downloadImage(with: url)
        print(result.image.pixelSize, "in", result.originalData.count, "bytes")
        // end
        #expect(result.image.pixelSize == PixelSize(width: 64, height: 48))
        #expect(result.originalData == fixture.png)
    }

    @Test func aPrefetcherTellsWhatBecameOfEach() async {
        let done = Recorder<[Int]>()
        let report: @Sendable ([Int]) -> Void = { done.record($0) }
        let urls = [url, fixture.origin.url("/missing.png")]
        let options: KingfisherOptionsInfo = [
            .targetCache(fixture.cache), .downloader(fixture.downloader),
        ]
        // guide: ImagePrefetcher/example
        let prefetcher = ImagePrefetcher(urls: urls, options: options) { skipped, failed, loaded in
            report([skipped.count, failed.count, loaded.count])
        }
        prefetcher.maxConcurrentDownloads = 10
        prefetcher.start()
        // end
        #expect(await done.waitFor(count: 1) == [[0, 1, 1]])
        #expect(fixture.cache.isCached(forKey: url.cacheKey))
    }

    @Test @MainActor func aBuilderSetsTheImageOfAView() async throws {
        let imageView = HeadlessImageView()
        let results = Recorder<Result<RetrieveImageResult, KingfisherError>>()
        let report: @MainActor @Sendable (Result<RetrieveImageResult, KingfisherError>) -> Void = {
            results.record($0)
        }
        let cache = fixture.cache
        // guide: Source/builder
        KF.url(url)
            .targetCache(cache)
            .downsampling(size: CGSize(width: 32, height: 32))
            .roundCorner(radius: .widthFraction(0.5))
            .onSuccess { result in report(.success(result)) }
            .onFailure { error in report(.failure(error)) }
            .set(to: imageView)
        // end
        let image = try await results.waitFor(count: 1)[0].get().image
        #expect(imageView.image === image && image.pixelSize == PixelSize(width: 32, height: 24))
        #expect(try image.bitmap()[0, 0].alpha == 0)
    }

    @Test func anImageIsCutAndWritten() throws {
        let bytes = fixture.png
        // guide: Image/example
        let photo = try Image.decoding(bytes)
        let square = photo.kf.crop(
            to: CGSize(width: 48, height: 48), anchorOn: CGPoint(x: 0.5, y: 0.5))
        print(photo.pixelSize, "cut to", square.pixelSize)
        let jpeg = try square.kf.data(format: .JPEG, options: ImageEncodingOptions(quality: 0.8))
        // end
        #expect(jpeg.kf.imageFormat == .JPEG)
        #expect(Image(data: jpeg)?.pixelSize == PixelSize(width: 48, height: 48))
    }

    @Test func aProcessorOfOnesOwnHasItsKey() async throws {
        let image = try await fixture.retrieve([.processor(FadedPicture(width: 16))]).image
        #expect(image.pixelSize == PixelSize(width: 16, height: 12))
        #expect(
            fixture.cache.isCached(
                forKey: url.cacheKey, processorIdentifier: "org.example.FadedPicture(16.0)"))
    }

    @Test func aSerializerOfOnesOwnWritesItsFormat() async throws {
        _ = try await fixture.retrieve([.cacheSerializer(SmallFiles())])
        let file = try #require(fixture.cache.cacheFileURLIfOnDisk(forKey: url.cacheKey))
        #expect(try Data(contentsOf: file).kf.imageFormat == .WebP)
        fixture.cache.clearMemoryCache()
        let found = try await fixture.retrieve([.cacheSerializer(SmallFiles())])
        #expect(found.cacheType == .disk && found.image.pixelSize.width == 64)
    }

    /// A picture of 64 × 48 without a pattern.
    private var photo: Image {
        Picture.noise(width: 8, height: 6, hasAlpha: false).image(hasAlpha: false)
            .kf.resize(to: CGSize(width: 64, height: 48))
    }

    @Test func aPhotoHasAHashWhoseCopyIsNear() async throws {
        let photo = photo
        let copy = photo.kf.resize(to: CGSize(width: 200, height: 150))
        // guide: BlurHash/example
        let hash = try await photo.kf.blurHash()
        print(hash)
        let preview = hash.bitmap(size: PixelSize(width: 32, height: 24))
        // end
        #expect(hash.columns == 4 && hash.rows == 3)
        #expect(preview.size == PixelSize(width: 32, height: 24))
        // guide: PerceptualHash/example
        let distance = try await photo.kf.pHash().distance(to: copy.kf.pHash())
        print(distance <= 10 ? "the same picture" : "another picture")
        // end
        #expect(distance <= 10)
    }

    @Test func aCoverHasColorsForATitle() async throws {
        let cover = photo
        // guide: ColorPalette/example
        let palette = try await cover.kf.palette(count: 5)
        let background = palette.dominant ?? palette.average
        let title = background.textColor(preferring: palette.colors)
        // end
        #expect(background.contrastRatio(to: title) >= 4.5)
    }

    @Test func aWatermarkIsLaidOverTheImage() async throws {
        let logo = try #require(
            Image(data: PNGFixture.data(.solid(.white, width: 4, height: 4))))
        // guide: WatermarkImageProcessor/example
        let mark = WatermarkImageProcessor(
            logo, name: "logo-2", opacity: 0.6, scale: 0.2,
            placement: .once(anchor: CGPoint(x: 1, y: 1), offset: CGPoint(x: -8, y: -8)))
        // end
        let image = try await fixture.retrieve([.processor(mark)]).image
        #expect(image.pixelSize == PixelSize(width: 64, height: 48))
        #expect(
            fixture.cache.isCached(forKey: url.cacheKey, processorIdentifier: mark.identifier))
    }

    @Test func aDownloaderStaysOutOfPrivateNetworks() async {
        let downloader = fixture.downloader
        // guide: AddressPolicy/example
        downloader.addressPolicy = .publicOnly
        // end
        await #expect(throws: KingfisherError.self) { try await fixture.retrieve() }
        #expect(fixture.origin.requestCount == 0)
    }

    @Test func anOperationIsRunByItsName() throws {
        let png = PNGFixture.data(.solid(.white, width: 2, height: 2))
        let image = try VipsImage.load("pngload_buffer", bytes: png)
        // guide: VipsOperation/example
        var operation = VipsOperation("max")
        operation.set("in", .image(image))
        let brightest = try operation.run().double("out")
        // end
        #expect(brightest == 255)
    }

    @Test func aRouteWaitsAndAnswers() async throws {
        let (server, png, gate) = (fixture.origin, fixture.png, Gate())
        // guide: OriginResponse/example
        server.route(
            "/cat.png", .ok(png, contentType: "image/png").with(.wait(.gate(gate)), .ranges))
        // end
        gate.open()
        let image = try await fixture.manager.retrieveImage(with: server.url("/cat.png")).image
        #expect(image.pixelSize == PixelSize(width: 64, height: 48))
    }
}

// guide: ImageProcessor/example
/// A faded picture of a given width, in points.
struct FadedPicture: ImageProcessor {
    let width: CGFloat
    var identifier: String { "org.example.FadedPicture(\(width))" }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .kf.resize(to: CGSize(width: width, height: width), for: .aspectFit)
            .kf.adjusted(brightness: 0, contrast: 1, saturation: 0.5, inputEV: 0)
    }
}
// end

// guide: CacheSerializer/example
/// Keeps every image as a small WebP file, whatever it was made of.
struct SmallFiles: CacheSerializer {
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        // What cannot be written is not cached.
        try? image.kf.data(format: .WebP, options: ImageEncodingOptions(quality: 0.6))
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultCacheSerializer.default.image(with: data, options: options)
    }
}
// end

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// An article that replaces the library by a loader made by hand: what its code does, and what it asks
/// for.
@Suite struct HandMadeLoaderArticleTests {
    let fixture: ManagerFixture
    let loader: ArticleImageLoader

    init() async throws {
        fixture = try await ManagerFixture()
        loader = try ArticleImageLoader(
            downloader: fixture.downloader, directory: fixture.folder.url)
    }

    /// A sticker with transparent corners.
    private var sticker: Data {
        PNGFixture.data(
            PixelGrid(width: 40, height: 40) { x, y in
                x < 8 && y < 8 ? .clear : Pixel(UInt8(x * 6), UInt8(y * 6), 90)
            })
    }

    // MARK: The loader

    @Test func theLoaderFindsInMemoryThenOnDiskThenLoads() async throws {
        let first = try await loader.loadImage(from: fixture.url)
        #expect(first.pixelSize == PixelSize(width: 64, height: 48))
        _ = try await loader.loadImage(from: fixture.url)
        loader.cache.clearMemoryCache()
        _ = try await loader.loadImage(from: fixture.url)
        #expect(fixture.origin.requestCount == 1)
        await loader.clearCache()
        _ = try await loader.loadImage(from: fixture.url)
        #expect(fixture.origin.requestCount == 2)
    }

    @Test func theLoaderDownsamplesWhenATargetSizeIsGiven() async throws {
        let image = try await loader.loadImage(
            from: fixture.url, targetSize: CGSize(width: 32, height: 32))
        #expect(image.pixelSize == PixelSize(width: 32, height: 24))
    }

    @Test func downsamplingKeepsTheOrientation() throws {
        // 90° clockwise: the width of the file is the height of the picture.
        let exif = EXIFFixture.block(orientation: 6, prefix: false)
        let png = PNGFixture.data(
            .quadrants(width: 80, height: 40), chunks: [.init(type: "eXIf", data: exif)])
        let image = try #require(
            KingfisherWrapper<Image>.downsampledImage(
                data: png, to: CGSize(width: 20, height: 20), scale: 1))
        #expect(image.pixelSize == PixelSize(width: 10, height: 20))
    }

    @Test func fourCutImagesComeInTheirPlacesWhateverComesFirst() async throws {
        let gates = (0..<4).map { _ in Gate() }
        for index in 0..<4 {
            let png = PNGFixture.solid(.red, width: 10 + index, height: 10)
            fixture.origin.route("/\(index).png", .png(png).with(.wait(.gate(gates[index]))))
        }
        let urls = (0..<4).map { fixture.origin.url("/\($0).png").absoluteString }
        async let loaded = loader.loadFourCutImages(
            frameUrl: fixture.url.absoluteString, imageUrls: urls)
        await fixture.origin.waitForRequests(5)
        for gate in gates.reversed() { gate.open() }
        let (frame, images) = try await loaded
        #expect(frame?.pixelSize.width == 64)
        #expect(images.map(\.pixelSize.width) == [10, 11, 12, 13])
    }

    @Test func oneMissingPhotoGivesNoFourCut() async {
        await #expect(throws: KingfisherError.self) {
            _ = try await loader.loadFourCutImages(
                frameUrl: fixture.url.absoluteString,
                imageUrls: [fixture.origin.url("/missing.png").absoluteString])
        }
    }

    @Test func theFourCutIsOneCall() async throws {
        for index in 0..<4 { fixture.origin.route("/\(index).png", .png(fixture.png)) }
        let width: CGFloat = 348
        let size = CGSize(width: width, height: width / PhotoLayout.fourCutAspectRatio)
        let image = try await fixture.manager.retrieveComposition(
            .fourCut(size: size),
            photos: (0..<4).map { .network(fixture.origin.url("/\($0).png")) },
            frame: .network(fixture.url),
            options: [.processor(DownsamplingImageProcessor(size: CGSize(width: 640, height: 640)))]
        )
        #expect(image.pixelSize == PixelSize(width: 348, height: 400))
    }

    // MARK: How images are stored

    @Test func stickersAreStoredAsPNGAndOtherImagesAsJPEG() async throws {
        let photo = PNGFixture.data(.noise(width: 64, height: 64), as: .rgb8)
        fixture.origin.route("/photo.png", .png(photo))
        fixture.origin.route("/sticker.png", .png(sticker))
        let stickerURL = fixture.origin.url("/sticker.png")
        let image = try await loader.loadImage(from: stickerURL, isSticker: true)
        _ = try await loader.loadImage(from: fixture.url)
        func stored(_ url: URL) throws -> Data {
            try Data(contentsOf: URL(fileURLWithPath: loader.cache.cachePath(forKey: url.cacheKey)))
        }
        #expect(try stored(stickerURL).kf.imageFormat == .PNG)
        let jpeg = try stored(fixture.url)
        #expect(jpeg.kf.imageFormat == .JPEG)
        let decoded = try #require(Image(data: photo))
        #expect(jpeg == decoded.jpegData(compressionQuality: 0.8))
        loader.cache.clearMemoryCache()
        let back = try await loader.loadImage(from: stickerURL, isSticker: true)
        #expect(try Picture(back).difference(to: Picture(image)) == 0)
        #expect(try back.bitmap()[0, 0].alpha == 0)
    }

    @Test func storingEverythingAsJPEGLosesTransparencyAsTheArticleSays() async throws {
        fixture.origin.route("/sticker.png", .png(sticker))
        let url = fixture.origin.url("/sticker.png")
        let options: KingfisherOptionsInfo = [
            .processor(DefaultImageProcessor.default),
            .cacheSerializer(FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.7)),
        ]
        let fresh = try await fixture.manager.retrieveImage(with: url, options: options)
        #expect(fresh.image.hasAlpha)
        fixture.cache.clearMemoryCache()
        let stored = try await fixture.manager.retrieveImage(with: url, options: options)
        #expect(stored.cacheType == .disk)
        #expect(!stored.image.hasAlpha)
    }

    @Test func theSerializerOfTheArticleKeepsTheFormat() throws {
        let jpeg = try #require(testImage().jpegData(compressionQuality: 1))
        let image = try #require(Image(data: jpeg))
        let serializer = ArticleSnippets.DefaultCacheSerializer()
        #expect(serializer.compressionQuality == 1)
        #expect(serializer.data(with: image, original: jpeg)?.kf.imageFormat == .JPEG)
        #expect(serializer.data(with: image, original: nil)?.kf.imageFormat == .PNG)
        var keeping = serializer
        keeping.preferCacheOriginalData = true
        #expect(keeping.data(with: image, original: jpeg) == jpeg)
    }

    // MARK: Limits and file names

    @Test func theMemoryHoldsAHundredImages() {
        let memory = loader.cache.memoryStorage
        #expect(memory.config.countLimit == 100)
        for index in 0..<150 { memory.store(value: testImage(), forKey: "\(index)") }
        let kept = (0..<150).filter { memory.isCached(forKey: "\($0)") }
        #expect(kept == Array(50..<150))
    }

    @Test func theMemoryHoldsFiftyMegabytes() {
        let memory = loader.cache.memoryStorage
        let limit = 50 * 1024 * 1024
        #expect(memory.config.totalCostLimit == limit)
        // 4 MiB each: twelve fit, the thirteenth does not.
        for index in 0..<20 {
            memory.store(value: testImage(width: 1024, height: 1024), forKey: "\(index)")
        }
        let kept = (0..<20).filter { memory.isCached(forKey: "\($0)") }
        #expect(kept == Array(8..<20))
        #expect(memory.totalCacheCost() <= limit)
    }

    @Test func expiredImagesAreLookedForEveryTwoMinutes() {
        #expect(MemoryStorage.Config(totalCostLimit: 0).cleanInterval == 120)
    }

    @Test func addressesWithTheSameLastComponentHaveDifferentFiles() async throws {
        fixture.origin.route("/a/photo.png", .png(PNGFixture.solid(.red, width: 4, height: 4)))
        fixture.origin.route("/b/photo.png", .png(PNGFixture.solid(.blue, width: 4, height: 4)))
        let a = fixture.origin.url("/a/photo.png")
        let b = fixture.origin.url("/b/photo.png")
        #expect(a.lastPathComponent == b.lastPathComponent)
        _ = try await loader.loadImage(from: a)
        _ = try await loader.loadImage(from: b)
        loader.cache.clearMemoryCache()
        let first = try await loader.loadImage(from: a)
        let second = try await loader.loadImage(from: b)
        #expect(try first.bitmap()[0, 0].red > 0.9)
        #expect(try second.bitmap()[0, 0].blue > 0.9)
        #expect(loader.cache.hash(forKey: a.cacheKey) != loader.cache.hash(forKey: b.cacheKey))
        #expect(fixture.origin.requestCount == 2)
    }

    @Test func aDayWithoutUseWipesTheDisk() {
        #expect(loader.cache.diskStorage.config.wipesWhenUnusedFor == 86_400)
    }

    // MARK: Prefetching

    @Test func thePrefetcherSkipsWhatIsCachedAndDownloadsTheRest() async throws {
        for index in 0..<3 { fixture.origin.route("/\(index).png", .png(fixture.png)) }
        let urls = (0..<3).map { fixture.origin.url("/\($0).png") }
        _ = try await fixture.manager.retrieveImage(with: urls[0])
        let counts = Recorder<[Int]>()
        let prefetcher = ImagePrefetcher(
            urls: urls,
            options: [.targetCache(fixture.cache), .downloader(fixture.downloader)],
            completionHandler: { skipped, failed, completed in
                counts.record([skipped.count, failed.count, completed.count])
            })
        #expect(prefetcher.maxConcurrentDownloads == 5)
        prefetcher.start()
        #expect(await counts.waitFor(count: 1) == [[1, 0, 2]])
        _ = try await fixture.manager.retrieveImage(with: urls[2])
        #expect(fixture.origin.requestCount == 3)
    }
}

/// Code of the article that is an excerpt: what it leaves out is added below.
private enum ArticleSnippets {
    public struct DefaultCacheSerializer: CacheSerializer {
        public var compressionQuality: CGFloat = 1.0
        public var preferCacheOriginalData: Bool = false

        public func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
            if preferCacheOriginalData {
                return original
                    ?? image.kf.data(
                        format: original?.kf.imageFormat ?? .unknown,
                        compressionQuality: compressionQuality
                    )
            } else {
                return image.kf.data(
                    format: original?.kf.imageFormat ?? .unknown,
                    compressionQuality: compressionQuality
                )
            }
        }
    }
}

extension ArticleSnippets.DefaultCacheSerializer {
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        KingfisherWrapper.image(data: data, options: options.imageCreatingOptions)
    }
}

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
        // A sticker with transparent corners.
        let sticker = PixelGrid(width: 40, height: 40) { x, y in
            x < 8 && y < 8 ? .clear : Pixel(UInt8(x * 6), UInt8(y * 6), 90)
        }
        fixture.origin.route("/sticker.png", .png(PNGFixture.data(sticker)))
    }

    private func storedFormat(of url: URL, in cache: ImageCache) throws -> ImageFormat {
        try Data(contentsOf: URL(fileURLWithPath: cache.cachePath(forKey: url.cacheKey)))
            .kf.imageFormat
    }

    @Test func theLoaderFindsInMemoryThenOnDiskThenLoads() async throws {
        let first = try await loader.loadImage(from: fixture.url)
        #expect(first.pixelSize == PixelSize(width: 64, height: 48))
        _ = try await loader.loadImage(from: fixture.url)
        loader.cache.clearMemoryCache()
        _ = try await loader.loadImage(from: fixture.url)
        #expect(fixture.origin.requestCount == 1)
        await loader.clearCache()
        let small = try await loader.loadImage(
            from: fixture.url, targetSize: CGSize(width: 32, height: 32))
        #expect(small.pixelSize == PixelSize(width: 32, height: 24))
        #expect(fixture.origin.requestCount == 2)
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
        #expect(frame?.pixelSize.width == 64 && images.map(\.pixelSize.width) == [10, 11, 12, 13])
        await #expect(throws: KingfisherError.self) {
            _ = try await loader.loadFourCutImages(
                frameUrl: fixture.url.absoluteString,
                imageUrls: [fixture.origin.url("/missing.png").absoluteString])
        }
    }

    @Test func stickersAreStoredAsPNGAndOtherImagesAsJPEG() async throws {
        let photo = PNGFixture.data(.noise(width: 64, height: 64), as: .rgb8)
        fixture.origin.route("/photo.png", .png(photo))
        let sticker = fixture.origin.url("/sticker.png")
        _ = try await loader.loadImage(from: sticker, isSticker: true)
        _ = try await loader.loadImage(from: fixture.url)
        #expect(try storedFormat(of: sticker, in: loader.cache) == .PNG)
        #expect(try storedFormat(of: fixture.url, in: loader.cache) == .JPEG)
    }

    /// What the article calls `cacheSerializer` is the setter `serialize(by:)`.
    @Test @MainActor func aDescriptionTellsHowItsImageIsStored() async throws {
        let imageURL = fixture.origin.url("/sticker.png")
        let done = Recorder<SettingResult>()
        let image = KFImage(imageURL)
            .setProcessor(DefaultImageProcessor.default)
            .serialize(by: FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.7))
            .targetCache(fixture.cache).downloader(fixture.downloader).waitForCache()
            .onSuccess { done.record(.success($0)) }.onFailure { done.record(.failure($0)) }
        let binder = ImageBinder()
        binder.appear(image.context)
        let loaded = try await done.waitFor(count: 1)[0].get().image
        #expect(try binder.isLoaded && loaded.bitmap()[0, 0].alpha == 0)
        #expect(try storedFormat(of: imageURL, in: fixture.cache) == .JPEG)
    }

    @Test func theSerializerOfTheArticleKeepsTheFormat() throws {
        let jpeg = try #require(testImage().kf.jpegRepresentation(compressionQuality: 1))
        let image = try #require(Image(data: jpeg))
        var serializer = ArticleSnippets.DefaultCacheSerializer()
        #expect(serializer.data(with: image, original: jpeg)?.kf.imageFormat == .JPEG)
        #expect(serializer.data(with: image, original: nil)?.kf.imageFormat == .PNG)
        serializer.preferCacheOriginalData = true
        #expect(serializer.data(with: image, original: jpeg) == jpeg)
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

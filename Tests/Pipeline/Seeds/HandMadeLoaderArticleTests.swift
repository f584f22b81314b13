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

    /// The article's description; what it calls `cacheSerializer` is the setter `serialize(by:)`.
    @MainActor private func photograph(_ imageURL: URL) -> KFImage {
        KFImage(imageURL)
            .setProcessor(DefaultImageProcessor.default)
            .serialize(by: FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.7))
            .targetCache(fixture.cache).downloader(fixture.downloader).waitForCache()
    }

    /// Loads what `image` describes in a binder of its own.
    @MainActor private func load(_ image: KFImage) async throws -> RetrieveImageResult {
        let binder = ImageBinder()
        let result = await withCheckedContinuation { continuation in
            let image = image.onSuccess {
                continuation.resume(returning: SettingResult.success($0))
            }
            .onFailure { continuation.resume(returning: .failure($0)) }
            binder.appear(image.context)
        }
        #expect(binder.isLoaded && binder.presentation.image === result.value?.image)
        return try result.get()
    }

    @Test @MainActor func storedAsJPEGAStickerLosesItsTransparency() async throws {
        fixture.origin.route("/sticker.png", .png(sticker))
        let url = fixture.origin.url("/sticker.png")
        #expect(try await load(photograph(url)).image.bitmap()[0, 0].alpha == 0)
        let file = URL(fileURLWithPath: fixture.cache.cachePath(forKey: url.cacheKey))
        #expect(try Data(contentsOf: file).kf.imageFormat == .JPEG)
        fixture.cache.clearMemoryCache()
        let stored = try await load(photograph(url))
        #expect(stored.cacheType == .disk)
        #expect(try stored.image.bitmap()[0, 0].alpha == 1)
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

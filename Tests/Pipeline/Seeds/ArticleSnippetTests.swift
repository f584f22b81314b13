import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// Code of the articles that is an excerpt: what it leaves out is added below. Their programs are in `Examples`.
@Suite struct ArticleSnippetTests {
    /// What the article calls `cacheSerializer` is the setter `serialize(by:)`.
    @Test @MainActor func aDescriptionTellsHowItsImageIsStored() async throws {
        let fixture = try await ManagerFixture()
        // A sticker with transparent corners.
        let sticker = PixelGrid(width: 40, height: 40) { x, y in
            x < 8 && y < 8 ? .clear : Pixel(UInt8(x * 6), UInt8(y * 6), 90)
        }
        fixture.origin.route("/sticker.png", .png(PNGFixture.data(sticker)))
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
        let file = URL(fileURLWithPath: fixture.cache.cachePath(forKey: imageURL.cacheKey))
        #expect(try Data(contentsOf: file).kf.imageFormat == .JPEG)
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

    @Test(arguments: [ImageFormat.PNG, .JPEG, .GIF])
    func aSerializerStoresTheFormatItIsMadeFor(_ format: ImageFormat) {
        let serializer = ArticleSnippets.FormatSerializer(imageFormat: format)
        #expect(serializer.data(with: testImage(), original: nil)?.kf.imageFormat == format)
    }
}

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

    struct FormatSerializer: CacheSerializer {
        let imageFormat: ImageFormat
        var jpegCompressionQuality: CGFloat?

        func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
            switch imageFormat {
            case .PNG: return image.kf.pngRepresentation()
            case .JPEG:
                return image.kf.jpegRepresentation(
                    compressionQuality: jpegCompressionQuality ?? 1.0)
            case .GIF: return image.kf.gifRepresentation()
            default: return nil
            }
        }
    }
}

extension ArticleSnippets.DefaultCacheSerializer {
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        KingfisherWrapper.image(data: data, options: options.imageCreatingOptions)
    }
}

extension ArticleSnippets.FormatSerializer {
    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultCacheSerializer.default.image(with: data, options: options)
    }
}

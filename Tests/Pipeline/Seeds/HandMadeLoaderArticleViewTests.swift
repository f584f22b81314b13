import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The view of the article that replaces the library by a loader made by hand.
@MainActor @Suite struct HandMadeLoaderArticleViewTests {
    // MARK: 1. Cache: how the format is decided

    /// The article's description; what it calls `cacheSerializer` is the setter `serialize(by:)`.
    private func photograph(_ imageURL: URL, _ fixture: PresentationFixture) -> KFImage {
        KFImage(imageURL)
            .setProcessor(DefaultImageProcessor.default)
            .serialize(by: FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.7))
            .targetCache(fixture.cache).downloader(fixture.downloader).waitForCache()
    }

    /// Loads what `image` describes in a binder of its own.
    private func load(_ image: KFImage) async throws -> RetrieveImageResult {
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

    @Test func anImageIsStoredInTheFormatTheDescriptionNames() async throws {
        let fixture = try await PresentationFixture()
        let url = fixture.url(width: 3)
        #expect(try await load(photograph(url, fixture)).cacheType == .none)
        let file = URL(fileURLWithPath: fixture.cache.cachePath(forKey: url.cacheKey))
        #expect(try Data(contentsOf: file).kf.imageFormat == .JPEG)
    }

    @Test func transparencyIsLostAsTheArticleFound() async throws {
        let fixture = try await PresentationFixture()
        let sticker = PNGFixture.data(.solid(.clear, width: 8, height: 8))
        fixture.origin.route("/sticker.png", .png(sticker))
        let url = fixture.origin.url("/sticker.png")
        let loaded = try await load(photograph(url, fixture))
        #expect(try loaded.image.bitmap()[4, 4].alpha == 0)
        fixture.cache.clearMemoryCache()
        let stored = try await load(photograph(url, fixture))
        #expect(stored.cacheType == .disk)
        #expect(try stored.image.bitmap()[4, 4].alpha == 1)
    }
}

import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Signed URLs share an image, by the option `cacheKeyNormalizer`.
@Suite struct CacheKeyNormalizerTests {
    let fixture: ManagerFixture
    private let normalizer = CacheKeyNormalizer.signedURLs

    init() async throws {
        fixture = try await ManagerFixture()
        fixture.manager.defaultOptions.append(.cacheKeyNormalizer(.signedURLs))
    }

    private func signed(_ signature: String) -> URL {
        fixture.origin.url("/photo.png?size=2&Signature=\(signature)")
    }

    private func retrieve(
        _ resource: any Resource, _ options: KingfisherOptionsInfo = []
    ) async throws -> CacheType {
        try await fixture.manager.retrieveImage(with: resource, options: options).cacheType
    }

    @Test func anotherSignatureHitsTheSameImage() async throws {
        #expect(try await retrieve(signed("a")) == .none)
        #expect(try await retrieve(signed("b")) == .memory)
        fixture.cache.clearMemoryCache()
        #expect(try await retrieve(signed("c"), [.onlyFromCache]) == .disk)
        // The request goes to the URL as given.
        #expect(fixture.origin.requests.map(\.query) == ["size=2&Signature=a"])
        #expect(fixture.cache.isCached(forKey: normalizer.key(for: signed("z"))))
        #expect(!fixture.cache.isCached(forKey: signed("a").cacheKey))
    }

    @Test func processedImagesAndOriginalsShareItToo() async throws {
        let processor = CountingProcessor()
        let options: KingfisherOptionsInfo = [.processor(processor), .cacheOriginalImage]
        #expect(try await retrieve(signed("a"), options) == .none)
        #expect(try await retrieve(signed("b"), options) == .memory)
        #expect(try await retrieve(signed("c")) == .disk)
        #expect(processor.runs.value == 1 && fixture.origin.requestCount == 1)
    }

    @Test func aKeyOfTheResourcesOwnStays() async throws {
        let own = KF.ImageResource(downloadURL: signed("a"), cacheKey: "own")
        #expect(try await retrieve(own) == .none)
        #expect(fixture.cache.isCached(forKey: "own"))
        #expect(!fixture.cache.isCached(forKey: normalizer.key(for: signed("a"))))
    }

    @Test func aRequestMayDoWithout() async throws {
        #expect(try await retrieve(signed("a")) == .none)
        #expect(try await retrieve(signed("a"), [.cacheKeyNormalizer(nil)]) == .none)
        #expect(fixture.cache.isCached(forKey: signed("a").cacheKey))
    }

    @Test func providersKeepTheirKeys() async throws {
        let provider = RawImageDataProvider(data: fixture.png, cacheKey: signed("a").absoluteString)
        _ = try await fixture.manager.retrieveImage(with: .provider(provider))
        #expect(fixture.cache.isCached(forKey: signed("a").absoluteString))
    }

    @Test func prefetchersUseIt() async {
        let options: KingfisherOptionsInfo = [
            .targetCache(fixture.cache), .downloader(fixture.downloader),
            .cacheKeyNormalizer(normalizer),
        ]
        func prefetch(_ signature: String) async -> (skipped: Int, completed: Int) {
            await handedOver { hand in
                ImagePrefetcher(urls: [signed(signature)], options: options) {
                    hand(($0.count, $2.count))
                }.start()
            }
        }
        #expect(await prefetch("a") == (0, 1))
        #expect(await prefetch("b") == (1, 0))
        #expect(fixture.origin.requestCount == 1)
    }

    @Test func setsOfImagesUseIt() async throws {
        for (signature, type) in [("a", CacheType.none), ("b", .memory)] {
            let images = try await fixture.manager.retrieveImages(
                with: [signed(signature)], options: nil)
            #expect(images.map(\.cacheType) == [type])
        }
    }

    @Test func livePhotosUseIt() async throws {
        fixture.origin.route("/photo.heic", .ok(Data("still".utf8)))
        for (signature, type) in [("a", CacheType.none), ("b", .disk)] {
            let url = fixture.origin.url("/photo.heic?Signature=\(signature)")
            let photo = try await fixture.manager.retrieveLivePhoto(
                with: LivePhotoSource(urls: [url]))
            #expect(photo.cacheType == type)
        }
    }

    @MainActor @Test func viewsUseIt() async throws {
        let fixture = try await PresentationFixture()
        let plain = fixture.url(width: 3)
        let signed = try #require(URL(string: plain.absoluteString + "?Signature=a"))
        try await fixture.cacheOnDisk(width: 3)
        let view = HeadlessImageView()
        let result = await handedOver { hand in
            _ = fixture.builder(signed).cacheKeyNormalizer(.signedURLs)
                .onSuccess { hand($0.cacheType) }.onFailure { _ in hand(.none) }.set(to: view)
        }
        #expect(result == .disk && fixture.origin.requestCount == 0)
        let description = KFImage(signed).cacheKeyNormalizer(.signedURLs)
        #expect(description.options.cacheKeyNormalizer == .signedURLs)
    }
}

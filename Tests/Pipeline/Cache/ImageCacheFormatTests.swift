import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// What the cache writes with the default serializer.
@Suite struct ImageCacheFormatTests {
    let folder: TemporaryDirectory
    let cache: ImageCache
    let animation = GIFFixture.data([
        GIFFixture.Frame(.solid(.red, width: 8, height: 6), delay: 10),
        GIFFixture.Frame(.solid(.blue, width: 8, height: 6), delay: 10),
    ])

    init() throws {
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "formats", cacheDirectoryURL: folder.url)
    }

    private func format(of key: String) throws -> ImageFormat {
        try Data(contentsOf: URL(fileURLWithPath: cache.cachePath(forKey: key))).kf.imageFormat
    }

    /// Upstream: testStoreGIFToDiskWithNilOriginalShouldPreserveGIFFormat
    @Test func anAnimationWithoutOriginalStaysAGIF() async throws {
        let image = try #require(Image(data: animation))
        try await cache.store(image, forKey: "1")
        #expect(try format(of: "1") == .GIF)
        cache.clearMemoryCache()
        let found = try #require(try await cache.retrieveImage(forKey: "1").image)
        #expect(found.frameCount == 2)
        #expect(found.isRendered)
    }

    @Test func aRescaledAnimationStaysAGIF() async throws {
        let image = try #require(Image(data: animation)).withScale(2)
        try await cache.store(image, forKey: "1")
        #expect(try format(of: "1") == .GIF)
    }

    @Test func aBitmapComesBackWithItsPixels() async throws {
        let image = testImage(width: 7, height: 5, value: 255)
        try await cache.store(image, forKey: "1")
        #expect(try format(of: "1") == .PNG)
        cache.clearMemoryCache()
        let result = try await cache.retrieveImage(forKey: "1")
        let found = try #require(result.image)
        #expect(result.cacheType == .disk)
        #expect(found.pixelSize == image.pixelSize)
        #expect(try found.bitmap()[3, 2] == image.bitmap()[3, 2])
    }

    @Test func aDamagedImageIsAMissAndRemoved() async throws {
        let png = PNGFixture.solid(.red, width: 16, height: 16)
        try await cache.storeToDisk(png.prefix(png.count / 2), forKey: "1")
        #expect(try await cache.retrieveImage(forKey: "1").cacheType == .none)
        #expect(cache.imageCachedType(forKey: "1") == .none)
    }

    /// Upstream: testDefaultCacheAsync
    @Test func theDefaultCacheStoresInBothLayers() async throws {
        let cache = ImageCache.default
        #expect(cache.diskStorage.config.name == "default")
        let key = UUID().uuidString
        try await cache.store(testImage(), forKey: key, cacheSerializer: PixelSerializer())
        #expect(cache.memoryStorage.isCached(forKey: key))
        #expect(cache.diskStorage.isCached(forKey: key))
        try await cache.removeImage(forKey: key)
        #expect(!cache.isCached(forKey: key))
    }
}

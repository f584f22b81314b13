import Foundation
import Halcyon
import HalcyonS3
import HalcyonTestKit
import Testing

/// The code in the guides and in the documentation of types, each piece between two markers.
struct SharedCacheSnippets {
    @Test func aCacheIsSharedInAStore() async throws {
        let port = try ClosedPort()
        let endpoint = port.url("")
        // guide: caching/shared
        let store = try S3ImageStorage(endpoint: endpoint, bucket: "pictures")
        let cache = ImageCache(name: "photos", shared: store)
        // end
        #expect(cache.sharedStorage is S3ImageStorage)
    }

    @Test func aManagerHasACacheThatIsShared() async throws {
        let port = try ClosedPort()
        let endpoint = port.url("")
        // guide: S3ImageStorage/example
        let store = try S3ImageStorage(endpoint: endpoint, bucket: "pictures")
        let cache = ImageCache(name: "photos", shared: store)
        let manager = KingfisherManager(downloader: .default, cache: cache)
        // end
        #expect(manager.cache.sharedStorage != nil)
    }

    // guide: SharedImageStorage/example
    struct SharedFolder: SharedImageStorage {
        let folder: URL

        func data(named name: String) async throws -> Data? {
            try? Data(contentsOf: folder.appendingPathComponent(name))
        }

        func store(_ data: Data, named name: String) async throws {
            try data.write(to: folder.appendingPathComponent(name), options: .atomic)
        }

        func remove(named name: String) async throws {
            try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }
    // end

    @Test func twoCachesShareAFolder() async throws {
        let folder = try TemporaryDirectory()
        let log = RecordedStorage.Log()
        let shared = RecordedStorage(storage: SharedFolder(folder: folder.url), log: log)
        let (one, two) = (try TemporaryDirectory(), try TemporaryDirectory())
        let first = try ImageCache(name: "test", cacheDirectoryURL: one.url, shared: shared)
        let second = try ImageCache(name: "test", cacheDirectoryURL: two.url, shared: shared)
        let png = PNGFixture.solid(Pixel(1, 2, 3), width: 6, height: 4)
        try await first.storeToDisk(png, forKey: "a")
        await log.stored.waitFor(count: 1)
        let found = try await second.retrieveImage(forKey: "a")
        #expect(found.cacheType == .disk && found.image?.pixelSize.width == 6)
    }
}

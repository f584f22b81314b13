import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@Suite struct UnwritableCacheTests {
    @Test func anImageLoadsThoughItsCacheFolderCannotBeMade() async throws {
        let origin = try await OriginServer.start(
            files: ["/a.png": PNGFixture.solid(.red, width: 4, height: 4)])
        let folder = try TemporaryDirectory()
        let file = try folder.write(Data("a file".utf8), to: "not a folder")
        let storage = DiskStorage.Backend<Data>(
            noThrowConfig: .init(name: "x", sizeLimit: 0, directory: file), creatingDirectory: true)
        let memory = MemoryStorage.Backend<KFCrossPlatformImage>(
            config: .init(totalCostLimit: 1_000_000))
        let cache = ImageCache(memoryStorage: memory, diskStorage: storage)
        let manager = KingfisherManager(downloader: .patient("x"), cache: cache)
        let result = try await manager.retrieveImage(
            with: origin.url("/a.png"), options: [.waitForCache])
        #expect(result.cacheType == .none)
        #expect(
            try await manager.retrieveImage(with: origin.url("/a.png")).cacheType == .memory)

        let error = await kingfisherError {
            try await cache.store(result.image, forKey: "key")
        }
        #expect(error?.errorCode == 3005 || error?.errorCode == 3011)
    }
}

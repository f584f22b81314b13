import Foundation
import Halcyon
import HalcyonS3
import HalcyonTestKit
import Testing

/// Caches of two programs, each with a folder of its own, and a real store behind them.
@Suite(.enabled(if: S3Server.isInstalled(), "neither weed nor moto_server is installed"))
struct RealStoreTests {
    private let origin: OriginServer
    private let store: S3Server
    private let (first, second): (TemporaryDirectory, TemporaryDirectory)
    private let log = RecordedStorage.Log()

    init() async throws {
        origin = try await OriginServer.start()
        origin.route("/a.png", .png(PNGFixture.solid(Pixel(1, 2, 3), width: 6, height: 4)))
        store = try await S3Server.start()
        first = try TemporaryDirectory()
        second = try TemporaryDirectory()
    }

    private func manager(
        _ folder: TemporaryDirectory, secret: String = S3Server.secretKey
    ) throws -> KingfisherManager {
        let storage = try S3ImageStorage(
            endpoint: store.endpoint, bucket: S3Server.bucket,
            credentials: .keys(access: S3Server.accessKey, secret: secret),
            // For a busy machine.
            timeout: .seconds(30))
        let cache = try ImageCache(
            name: "test", cacheDirectoryURL: folder.url,
            shared: RecordedStorage(storage: storage, log: log))
        return KingfisherManager(downloader: ImageDownloader(name: "test"), cache: cache)
    }

    private func retrieve(_ manager: KingfisherManager) async throws -> CacheType {
        let result = try await manager.retrieveImage(
            with: origin.url("/a.png"), options: [.waitForCache])
        #expect(result.image.pixelSize.width == 6)
        return result.cacheType
    }

    /// The name of the object, once there is one.
    private func object() async throws -> String {
        await log.stored.waitFor(count: 1)
        return try #require(try await store.names().first)
    }

    @Test func whatOneHasLoadedTheOtherFinds() async throws {
        #expect(try await retrieve(try manager(first)) == .none)
        #expect(try await object().hasPrefix("i/"))
        #expect(try await retrieve(try manager(second)) == .disk)
        #expect(origin.requestCount == 1)
    }

    @Test func aDamagedObjectIsLoadedAgainAndReplaced() async throws {
        #expect(try await retrieve(try manager(first)) == .none)
        try await store.damage(try await object())
        let third = try TemporaryDirectory()
        #expect(try await retrieve(try manager(second)) == .none)
        #expect(origin.requestCount == 2)
        #expect(try await retrieve(try manager(third)) == .disk)
        #expect(origin.requestCount == 2)
    }

    @Test func whatOneRemovesIsGoneForTheOther() async throws {
        let one = try manager(first)
        #expect(try await retrieve(one) == .none)
        _ = try await object()
        try await one.cache.removeImage(forKey: origin.url("/a.png").cacheKey)
        await log.removed.waitFor(count: 1)
        #expect(try await store.names().isEmpty)
        #expect(try await retrieve(try manager(second)) == .none)
        #expect(origin.requestCount == 2)
    }

    @Test(.enabled(if: S3Server.isInstalled(checkingKeys: true), "weed is not installed"))
    func withAWrongKeyPicturesStillComeAndNothingIsShared() async throws {
        #expect(try await retrieve(try manager(first, secret: "wrong")) == .none)
        #expect(try await retrieve(try manager(first, secret: "wrong")) == .disk)
        #expect(try await store.names().isEmpty)
        #expect(origin.requestCount == 1)
    }
}

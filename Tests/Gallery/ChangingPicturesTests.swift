import Foundation
import HalcyonSamples
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGallery

/// The pictures of the page on freshness are what their titles say.
@MainActor @Suite struct ChangingPicturesTests {
    private let origin: SampleServer
    private let pictures: ChangingPictures
    private let manager: KingfisherManager
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory(prefix: "halcyon-changing-pictures")
        origin = try SampleServer()
        pictures = ChangingPictures(on: origin, samples: try SamplePictures())
        // What is fresh for seconds stays so, however long other tests keep the main actor.
        let start = Date()
        manager = KingfisherManager(
            downloader: ImageDownloader(name: "changing", transport: nil, now: { start }),
            cache: try ImageCache(name: "changing", folder: folder.url, now: { start }))
    }

    /// How the picture came about whose rule has this in `Cache-Control`.
    private func use(_ directive: String) async throws -> String {
        let index = try #require(
            ChangingPictures.rules.firstIndex { $0.cacheControl.contains(directive) })
        let options: KingfisherOptionsInfo = [.httpCaching(.on), .waitForCache]
        let result = try await manager.retrieveImage(with: pictures.url(index), options: options)
        return try String(describing: #require(result.httpCacheUse))
    }

    @Test func aFreshPictureIsNotAskedFor() async throws {
        #expect(try await use("max-age=10") == "fetched(stored: true)")
        pictures.change()
        let count = origin.requestCount
        #expect(try await use("max-age=10") == "fresh")
        #expect(origin.requestCount == count)
    }

    @Test func aPictureIsValidatedAndFetchedWhenItHasChanged() async throws {
        _ = try await use("no-cache")
        #expect(try await use("no-cache") == "validated")
        pictures.change()
        #expect(try await use("no-cache") == "fetched(stored: true)")
        pictures.isReachable = false
        await #expect(throws: KingfisherError.self) { try await use("no-cache") }
        pictures.isReachable = true
        #expect(try await use("no-cache") == "validated")
    }

    @Test(arguments: ["stale-if-error", "must-revalidate"])
    func theDateOrTheTagTellsOnePictureFromTheNext(directive: String) async throws {
        let index = try #require(
            ChangingPictures.rules.firstIndex { $0.cacheControl.contains(directive) })
        let key = pictures.url(index).absoluteString
        _ = try await use(directive)
        // So that nobody has to wait until it is stale.
        try await manager.cache.invalidateResponses(forKey: key)
        #expect(try await use(directive) == "validated")
        pictures.change()
        try await manager.cache.invalidateResponses(forKey: key)
        #expect(try await use(directive) == "fetched(stored: true)")
    }

    @Test func whatMayNotBeKeptIsNot() async throws {
        #expect(try await use("no-store") == "fetched(stored: false)")
        #expect(try await manager.cache.httpResponses().isEmpty)
    }
}

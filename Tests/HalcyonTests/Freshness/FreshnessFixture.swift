import Foundation
import HalcyonHTTP
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// A manager whose requests follow HTTP's rules, with a clock that the test moves, and an origin whose
/// pictures say how long they are good for.
final class FreshnessFixture: Sendable {
    let origin: OriginServer
    let folder: TemporaryDirectory
    let cache: ImageCache
    let downloader: ImageDownloader
    let manager: KingfisherManager
    let clock = Locked(Date(timeIntervalSince1970: 1_800_000_000))

    init(
        _ caching: HTTPCaching = .on, in folder: TemporaryDirectory? = nil,
        network: any NetworkMonitoring = FakeNetwork(isConnected: true)
    ) async throws {
        origin = try await OriginServer.start()
        self.folder = try folder ?? TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: self.folder.url)
        let clock = clock
        downloader = ImageDownloader(
            name: "test", transport: nil, now: { clock.value }, network: network)
        downloader.downloadTimeout = 60
        manager = KingfisherManager(downloader: downloader, cache: cache)
        manager.defaultOptions = [.httpCaching(caching), .waitForCache]
    }

    /// One whose picture, 3 pixels wide and with a tag, has been loaded and is 100 seconds old.
    static func aged(
        _ cacheControl: String = "max-age=60",
        network: any NetworkMonitoring = FakeNetwork(isConnected: true)
    ) async throws -> FreshnessFixture {
        let fixture = try await FreshnessFixture(network: network)
        fixture.serve(3, cacheControl, tag: "\"1\"")
        _ = try await fixture.get()
        fixture.pass(100)
        return fixture
    }

    /// Lets seconds pass.
    func pass(_ seconds: TimeInterval) {
        clock.withLock { $0 += seconds }
    }

    static func png(_ width: Int) -> Data {
        PNGFixture.data(.gradient(width: width, height: 5))
    }

    /// Has the origin serve a picture of this width, with these words about it.
    func serve(
        _ width: Int, _ cacheControl: String? = "max-age=60", tag: String? = nil,
        at path: String = "/a.png", _ more: [OriginBehaviour] = []
    ) {
        var response = OriginResponse.png(Self.png(width))
        if let cacheControl { response = response.header("Cache-Control", cacheControl) }
        if let tag { response = response.with(.entityTag(tag)) }
        response.behaviours += more
        origin.route(path, response)
    }

    func get(
        _ options: KingfisherOptionsInfo = [], at path: String = "/a.png"
    ) async throws -> RetrieveImageResult {
        try await manager.retrieveImage(with: origin.url(path), options: options)
    }

    /// The width and the use of what `get` delivers.
    func got(
        _ options: KingfisherOptionsInfo = [], at path: String = "/a.png"
    ) async throws -> String {
        let result = try await get(options, at: path)
        return "\(result.image.pixelSize.width) \(result.httpCacheUse.map { "\($0)".words } ?? "-")"
    }

    var count: Int { origin.requestCount }
}

extension String {
    /// `stale(Halcyon.HTTPStaleReason.error(…))` as `stale error`.
    fileprivate var words: String {
        if hasPrefix("fetched") { return contains("true") ? "fetched" : "fetched, unstored" }
        guard hasPrefix("stale") else { return self }
        for reason in ["revalidating", "accepted"] where contains(reason) {
            return "stale \(reason)"
        }
        return "stale error"
    }
}

import Foundation
import FoundationNetworking
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
    let clock: Locked<Date>
    private let caching: HTTPCaching
    /// What was decided about stored responses.
    let decisions = Recorder<HTTPCacheEvent>()
    /// What revalidations of requests with the options `listening` have found; see `noting`.
    let findings = Recorder<String>()

    /// - Parameter other: A fixture whose origin and clock are also those of this one.
    init(
        _ caching: HTTPCaching = .on, in folder: TemporaryDirectory? = nil,
        cache: ImageCache? = nil, beside other: FreshnessFixture? = nil,
        network: any NetworkMonitoring = FakeNetwork(isConnected: true)
    ) async throws {
        if let other { origin = other.origin } else { origin = try await OriginServer.start() }
        self.clock = other?.clock ?? Locked(Date(timeIntervalSince1970: 1_800_000_000))
        self.caching = caching
        self.folder = try folder ?? TemporaryDirectory()
        self.cache = try cache ?? ImageCache(name: "test", cacheDirectoryURL: self.folder.url)
        let (clock, decisions) = (clock, decisions)
        downloader = ImageDownloader(
            name: "test", transport: nil, now: { clock.value }, network: network,
            cacheLog: HTTPCacheLog { decisions.record($0) })
        // Nobody gives up because the machine is busy with other tests.
        downloader.downloadTimeout = 600
        downloader.connectTimeout = 600
        manager = KingfisherManager(downloader: downloader, cache: self.cache)
        manager.defaultOptions = [.httpCaching(caching), .waitForCache]
    }

    /// One whose picture, 3 pixels wide and with a tag, has been loaded and is 100 seconds old.
    static func aged(
        _ cacheControl: String = "max-age=60",
        network: any NetworkMonitoring = FakeNetwork(isConnected: true)
    ) async throws -> FreshnessFixture {
        let fixture = try await FreshnessFixture(network: network)
        try await fixture.load(3, cacheControl, tag: "\"1\"")
        fixture.pass(100)
        return fixture
    }

    func pass(_ seconds: TimeInterval) { clock.withLock { $0 += seconds } }

    static func png(_ width: Int) -> Data { PNGFixture.data(.gradient(width: width, height: 5)) }

    /// Has the origin serve a picture of this width, with these words about it.
    func serve(
        _ width: Int, _ cacheControl: String? = "max-age=60", tag: String? = nil,
        at path: String = "/a.png", _ more: [OriginBehaviour] = []
    ) {
        var response = Self.picture(width, cacheControl, tag: tag)
        response.behaviours += more
        origin.route(path, response)
    }

    static func picture(
        _ width: Int, _ cacheControl: String? = "max-age=60", tag: String? = nil
    ) -> OriginResponse {
        let response = OriginResponse.png(png(width)).saying(cacheControl)
        return tag.map { response.with(.entityTag($0)) } ?? response
    }

    /// Has the origin redirect, with these words about it.
    func redirect(
        _ path: String = "/a.png", to target: String, _ status: Int = 302,
        _ cacheControl: String? = nil
    ) {
        origin.route(path, .redirect(to: target, status: status).saying(cacheControl))
    }

    /// Loads a picture when so many seconds have passed.
    func get(
        _ options: KingfisherOptionsInfo = [], at path: String = "/a.png",
        after seconds: TimeInterval = 0
    ) async throws -> RetrieveImageResult {
        pass(seconds)
        return try await manager.retrieveImage(with: url(path), options: options)
    }

    func load(
        _ width: Int, _ cacheControl: String? = "max-age=60", tag: String? = nil,
        _ options: KingfisherOptionsInfo = []
    ) async throws {
        serve(width, cacheControl, tag: tag)
        _ = try await get(options)
    }

    /// The width and the use of what `get` delivers.
    func got(
        _ options: KingfisherOptionsInfo = [], at path: String = "/a.png",
        after seconds: TimeInterval = 0
    ) async throws -> String {
        let result = try await get(options, at: path, after: seconds)
        return "\(result.image.pixelSize.width) \(result.httpCacheUse.map { "\($0)".words } ?? "-")"
    }

    /// The code of the error of `get`; `nil` when there is none.
    func errorCode(
        _ options: KingfisherOptionsInfo = [], at path: String = "/a.png",
        after seconds: TimeInterval = 0
    ) async -> Int? {
        await kingfisherError { _ = try await get(options, at: path, after: seconds) }?.errorCode
    }

    /// Options with which views and prefetchers use it.
    var options: KingfisherOptionsInfo {
        [.httpCaching(caching), .targetCache(cache), .downloader(downloader), .waitForCache]
    }

    var listening: KingfisherOptionsInfo { [.callbackQueue(.untouch), .noting(findings)] }

    /// How many a prefetcher skips, fails to load and completes.
    func prefetched(
        _ paths: [String] = ["/a.png"], _ more: KingfisherOptionsInfo = []
    ) async -> [Int] {
        await handedOver { hand in
            ImagePrefetcher(urls: paths.map(url), options: options + more) {
                skipped, failed, completed in
                hand([skipped.count, failed.count, completed.count])
            }.start()
        }
    }

    /// Has the program itself store a picture of this width.
    func store(_ width: Int) async throws {
        try await cache.store(testImage(width: width), forKey: url().cacheKey)
    }

    /// Whether a file of the cache, which has some, holds this text.
    func hasWritten(_ text: String) throws -> Bool {
        let folder = cache.diskStorage.directoryURL
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!names.isEmpty)
        return try names.contains {
            try Data(contentsOf: folder.appending(path: $0)).firstRange(of: Data(text.utf8)) != nil
        }
    }

    var count: Int { origin.requestCount }

    /// The URL of the picture, or of another path.
    func url(_ path: String = "/a.png") -> URL { origin.url(path) }

    var lastCondition: String? { origin.requests.last?.headers["If-None-Match"] }
}

extension OriginResponse {
    /// This response with `Cache-Control`, if there is any.
    fileprivate func saying(_ cacheControl: String?) -> OriginResponse {
        cacheControl.map(self.cacheControl) ?? self
    }
}

extension HTTPCaching {
    /// These settings with a change.
    func with(_ change: (inout HTTPCaching) -> Void) -> HTTPCaching {
        var caching = self
        change(&caching)
        return caching
    }
}

extension KingfisherOptionsInfoItem {
    /// Records what revalidations find: `unchanged`, `changed 4` with the new width, or `failed 2003`.
    static func noting(_ events: Recorder<String>) -> KingfisherOptionsInfoItem {
        .onHTTPRevalidation { found in
            switch found {
            case .unchanged: events.record("unchanged")
            case .changed(let result): events.record("changed \(result.image.pixelSize.width)")
            case .failed(let error): events.record("failed \(error.errorCode)")
            }
        }
    }
}

/// Answers every challenge with the same credentials.
final class KnownPassword: AuthenticationChallengeResponsible, Sendable {
    static let credentials = Credentials(user: "ann", password: "secret")

    func downloader(
        _ downloader: ImageDownloader, task: SessionDataTask,
        didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        let known = Self.credentials
        return (
            .useCredential,
            URLCredential(user: known.user, password: known.password, persistence: .none)
        )
    }
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

import Foundation
import FoundationNetworking
import HalcyonTestKit

@testable import Halcyon

/// A manager with a downloader and caches of its own, and an origin with one PNG of 64×48 pixels.
final class ManagerFixture: Sendable {
    let origin: OriginServer
    let folder: TemporaryDirectory
    let cache: ImageCache
    let downloader: ImageDownloader
    let manager: KingfisherManager
    let png = PNGFixture.data(.gradient(width: 64, height: 48))
    var url: URL { origin.url("/photo.png") }

    init() async throws {
        origin = try await OriginServer.start(files: ["/photo.png": png])
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
        downloader = ImageDownloader.patient()
        manager = KingfisherManager(downloader: downloader, cache: cache)
        manager.defaultOptions = [.waitForCache]
    }

    func otherCache(_ name: String) throws -> ImageCache {
        try ImageCache(name: name, cacheDirectoryURL: folder.url)
    }

    func retrieve(_ options: KingfisherOptionsInfo = []) async throws -> RetrieveImageResult {
        try await manager.retrieveImage(with: url, options: options)
    }

    /// A request in the callback form, and what it is told, on whatever thread that is.
    struct Request: Sendable {
        let task: DownloadTask?
        let results: Recorder<SettingResult>

        func result() async -> SettingResult { await results.waitFor(count: 1)[0] }
    }

    @discardableResult
    func start(
        _ source: Source, _ options: KingfisherOptionsInfo = [],
        updated: DownloadTaskUpdatedBlock? = nil
    ) -> Request {
        let results = Recorder<SettingResult>()
        let task = manager.retrieveImage(
            with: source, options: [.callbackQueue(.untouch)] + options,
            downloadTaskUpdated: updated, completionHandler: { results.record($0) })
        return Request(task: task, results: results)
    }

    @discardableResult
    func start(_ url: URL, _ options: KingfisherOptionsInfo = []) -> Request {
        start(.network(url), options)
    }

    func retrieveByCallback(_ options: KingfisherOptionsInfo = []) async -> SettingResult {
        await start(url, options).result()
    }

    /// A picture that comes when the gate opens.
    func hold(_ path: String = "/slow.png") -> (url: URL, gate: Gate) {
        let gate = Gate()
        origin.route(path, .png(png).with(.wait(.gate(gate))))
        return (origin.url(path), gate)
    }
}

/// The error of `body`, as a `KingfisherError`.
func kingfisherError(_ body: () async throws -> Void) async -> KingfisherError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? KingfisherError
    }
}

/// Answers with the given decisions, one after the other, then stops; remembers what it was asked.
final class ScriptedRetryStrategy: RetryStrategy {
    struct Call: Sendable {
        let source: Source
        let errorCode: Int
        let status: Int?
        let retriedCount: Int
        let userInfo: Int?
    }

    let calls = Recorder<Call>()
    private let decisions: Locked<[RetryDecision]>

    init(_ decisions: [RetryDecision]) {
        self.decisions = Locked(decisions)
    }

    func retry(
        context: RetryContext, retryHandler: @escaping @Sendable (RetryDecision) -> Void
    ) {
        calls.record(
            Call(
                source: context.source, errorCode: context.error.errorCode,
                status: context.error.status, retriedCount: context.retriedCount,
                userInfo: context.userInfo as? Int))
        retryHandler(decisions.withLock { $0.isEmpty ? .stop : $0.removeFirst() })
    }
}

extension KingfisherError {
    fileprivate var status: Int? {
        guard case .responseError(reason: .invalidHTTPStatusCode(let response)) = self else {
            return nil
        }
        return response.statusCode
    }
}

/// Gives its bytes when the gate opens, whether its task is cancelled or not.
struct StubbornProvider: ImageDataProvider {
    let gate: Gate
    let bytes: Data
    var cacheKey = "stubborn"
    var finished = Recorder<Void>()

    func data(handler: @escaping @Sendable (Result<Data, any Error>) -> Void) {
        Task.detached {
            // This task is nobody's to cancel.
            try? await gate.wait()
            handler(.success(bytes))
            finished.record(())
        }
    }
}

import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonHTTP

/// The prepared cases by the way that every request for an image goes: manager, caches, downloader, transport,
/// with real messages, and pictures in place of the cases' texts.
@Suite("Prepared cases through the library", .enabled(if: PreparedCases.areThere))
struct PreparedCasesThroughTheLibraryTests {
    @Test("Requests for images pass all cases but those that ask for what is no image's affair")
    func privateRole() async throws {
        let library = try await CaseLibrary()
        let tests = try PreparedCases.privateSet.get()
        let outcome = await Outcome.of(tests) { test in
            test.failure(with: library, start: library.clock.value)
        }
        outcome.expect(
            "private role through the library", missing: Self.expected, required: 125, optimal: 52)
        try await library.origin.shutdown()
    }

    private static let expected = Missed.ranges.union(Missed.choices).union(otherLengths)
        .union(withoutPicture).union(guessedErrors).union(serverErrors).union(variants)

    /// The picture is longer than the text whose length the case would have said.
    private static let otherLengths: Set = [
        "304-etag-update-response-Content-Length", "headers-store-Content-Length",
    ]

    /// Only 200 and 203 bring pictures that are kept; to 204 there is none.
    private static let withoutPicture: Set = [
        "heuristic-204-cached", "status-204-fresh", "status-204-stale", "status-299-fresh",
        "status-299-stale",
    ]

    /// Lifetimes of errors that say nothing themselves are a setting, and not guessed.
    private static let guessedErrors: Set = [
        "heuristic-404-cached", "heuristic-405-cached", "heuristic-410-cached",
        "heuristic-414-cached", "heuristic-501-cached", "heuristic-599-cached",
    ]

    /// An error of the server says nothing of the picture, and is not remembered.
    private static let serverErrors = Set(
        [500, 502, 503, 504, 599].flatMap { ["status-\($0)-fresh", "status-\($0)-stale"] }
    ).union(["status-599-must-understand"])

    /// An image has one file, whichever variant it is of.
    private static let variants: Set = ["vary-invalidate"]
}

/// A manager for the cases, and the server that is their origin.
private final class CaseLibrary: CaseCache, Sendable {
    let origin: OriginServer
    let clock: Locked<Date>
    private let manager: KingfisherManager
    private let cache: ImageCache
    private let received = ReceivedResponse()
    private let folder: TemporaryDirectory

    init() async throws {
        origin = try await OriginServer.start()
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "cases", cacheDirectoryURL: folder.url)
        let clock = Locked(Date(timeIntervalSince1970: 1_790_000_000.9))
        self.clock = clock
        let downloader = ImageDownloader(
            name: "cases", transport: nil, now: { clock.value }, network: AlwaysConnected())
        downloader.downloadTimeout = 600
        downloader.connectTimeout = 600
        downloader.delegate = received
        manager = KingfisherManager(downloader: downloader, cache: cache)
    }

    private static func caching(of step: PreparedCase.Step) -> HTTPCaching {
        var caching = HTTPCaching.on
        // Errors may be used again, like pictures.
        caching.negative = .on(statuses: Set(400...599), lifetime: 0, limit: 1e9)
        if step.cache == "no-cache" { caching.validation = .always }
        return caching
    }

    func answer(
        _ request: HTTPCacheRequest, of step: PreparedCase.Step, from origin: inout SimulatedOrigin
    ) -> SimulatedAnswer {
        let shared = self.origin.route(
            request.url.path, to: origin, OriginResponse.init(picturing:)
        ) { [clock] in clock.set($0) }
        let target = request.url.query.map { "\(request.url.path)?\($0)" } ?? request.url.path
        let url = self.origin.url(target)
        let result = Locked<SimulatedAnswer?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Task { [self] in
            result.set(await load(url, request, step, token: shared.value.token))
            isDone.signal()
        }
        isDone.wait()
        origin = shared.value
        return result.value ?? SimulatedAnswer(status: 504, fields: [:], body: "")
    }

    /// Asks for the picture, and waits until nothing is under way in the background.
    private func load(
        _ url: URL, _ request: HTTPCacheRequest, _ step: PreparedCase.Step, token: String
    ) async -> SimulatedAnswer {
        received.last.set(nil)
        let revalidation = Recorder<Void>()
        let caching = Self.caching(of: step)
        let options: KingfisherOptionsInfo = [
            .httpCaching(caching), .waitForCache,
            .onHTTPRevalidation { _ in revalidation.record(()) },
            .redirectHandler(AnyRedirectHandler { _, _, _, handler in handler(nil) }),
            .requestModifier(
                AnyModifier { sent in
                    var sent = sent
                    sent.httpMethod = request.method
                    for line in request.fields.lines {
                        sent.addValue(line.value, forHTTPHeaderField: line.name)
                    }
                    return sent
                }),
        ]
        do {
            let result = try await manager.retrieveImage(with: url, options: options)
            var answer = stored(url, request, caching)
            if case .fetched = result.httpCacheUse { answer = fetched ?? answer }
            if case .stale(.revalidating) = result.httpCacheUse {
                _ = await revalidation.waitFor(count: 1)
            }
            answer.body = result.image.caseText ?? ""
            return answer
        } catch {
            return failed(error as? KingfisherError, step, token)
        }
    }

    /// The response that the server has just sent.
    private var fetched: SimulatedAnswer? {
        received.last.value.map {
            SimulatedAnswer(status: $0.statusCode, fields: HTTPFields($0), body: "")
        }
    }

    /// The response that the image was made of, as it is stored.
    private func stored(
        _ url: URL, _ request: HTTPCacheRequest, _ caching: HTTPCaching
    ) -> SimulatedAnswer {
        let policy = HTTPCachePolicy(caching)
        let records = cache.responses.read(ResponseKey.key(url: url), under: policy)
        var asked = request
        asked.url = url
        guard case .response(let stored, _) = policy.select(asked, among: records.map(\.stored))
        else { return SimulatedAnswer(status: 0, fields: [:], body: "") }
        return SimulatedAnswer(
            status: stored.status, fields: policy.fields(of: stored, now: clock.value), body: "")
    }

    /// The server's answer as an error tells it. Its content is nobody's: it counts as the right one.
    private func failed(
        _ error: KingfisherError?, _ step: PreparedCase.Step, _ token: String
    ) -> SimulatedAnswer {
        var answer = SimulatedAnswer(status: 504, fields: [:], body: "")
        switch error {
        case .responseError(reason: .invalidHTTPStatusCode(let response)):
            answer.status = response.statusCode
            answer.fields = HTTPFields(response)
            answer.body = step.responseBody ?? token
        case .responseError(reason: .URLSessionError), .cacheError(reason: .imageNotExisting): break
        default:
            // Nothing that an image could be made of.
            if let fetched { answer = fetched }
        }
        return answer
    }
}

private final class ReceivedResponse: ImageDownloaderDelegate, Sendable {
    let last = Locked<HTTPURLResponse?>(nil)

    func imageDownloader(
        _ downloader: ImageDownloader, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        last.set(response as? HTTPURLResponse)
        return .allow
    }
}

private struct AlwaysConnected: NetworkMonitoring {
    var isConnected: Bool { true }

    func reaches(_ host: String) -> Bool { true }

    func observeConnectivity(
        timeoutInterval: TimeInterval?, callback: @escaping @Sendable (Bool) -> Void
    ) -> NetworkObserver {
        callback(true)
        return NetworkObserver()
    }
}

extension OriginResponse {
    /// The answer with a picture in which its text is written, a byte to a pixel.
    fileprivate init(picturing answer: SimulatedAnswer) {
        var headers = HeaderFields()
        for line in answer.fields.lines { headers.add(line.name, line.value) }
        let bytes = Array(answer.body.utf8)
        let grid = PixelGrid(width: bytes.count + 1, height: 1) { x, _ in
            Pixel(gray: x < bytes.count ? bytes[x] : 0)
        }
        let hasBody = ![204, 304].contains(answer.status)
        self.init(
            status: answer.status, headers: headers,
            body: hasBody ? .data(PNGFixture.data(grid)) : .empty)
    }
}

extension KFCrossPlatformImage {
    /// The text that is written in it.
    fileprivate var caseText: String? {
        guard let bitmap = try? bitmap() else { return nil }
        let bytes = (0..<bitmap.size.width - 1).map { x in
            bitmap.data[x * bitmap.bytesPerPixel]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

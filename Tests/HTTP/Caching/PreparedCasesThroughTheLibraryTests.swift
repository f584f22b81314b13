import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonHTTP

/// The prepared cases by the way that every request for an image goes: manager, caches, downloader, transport,
/// with real messages, and the cases' texts as images.
@Suite("Prepared cases through the library", .enabled(if: PreparedCases.areThere))
struct PreparedCasesThroughTheLibraryTests {
    @Test("The cache of one user passes all cases but those that are no image's affair")
    func privateRole() async throws {
        let outcome = try await play(PreparedCases.privateSet.get(), .on)
        outcome.expect(
            "private role through the library", missing: Self.missed, required: 127, optimal: 52)
    }

    @Test("The cache of several users passes all cases but those that are no image's affair")
    func sharedRole() async throws {
        var caching = HTTPCaching.shared
        caching.targetedFields = ["CDN-Cache-Control"]
        let outcome = try await play(PreparedCases.sharedSet.get(), caching)
        outcome.expect(
            "shared role through the library",
            missing: Self.missed.union(Self.conditions).union(Self.redirects), required: 143,
            optimal: 66)
    }

    private func play(
        _ tests: [PreparedCase], _ caching: HTTPCaching
    ) async throws -> PreparedOutcome {
        let library = try await CaseLibrary(caching)
        let outcome = await PreparedOutcome(of: tests) { test in
            await test.failure(with: library, start: library.clock.value)
        }
        try await library.origin.shutdown()
        return outcome
    }

    /// The cases that both roles miss.
    private static let missed = ranges.union(choices).union(withoutPicture).union(guessedErrors)
        .union(serverErrors).union(variants)

    /// A request for a range is the program's own affair: its response is neither stored, as a picture needs its
    /// whole, nor cut from a stored one.
    private static let ranges: Set = [
        "partial-store-partial-complete", "partial-store-partial-reuse-partial",
        "partial-store-partial-reuse-partial-absent",
        "partial-store-partial-reuse-partial-byterange",
        "partial-store-partial-reuse-partial-suffix",
        "partial-store-complete-reuse-partial", "partial-store-complete-reuse-partial-no-last",
        "partial-store-complete-reuse-partial-suffix",
        // These two are required; they depend on the ones above.
        "partial-use-headers", "partial-use-stored-headers",
    ]

    /// The response to a `POST` is not stored, and of variants in several languages none is chosen by the quality that
    /// a request gives them.
    private static let choices: Set = ["method-POST", "vary-normalise-lang-select"]

    /// Only 200 and 203 bring images that are stored; to 204 there is none.
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

    /// A request with a condition of the program's own goes to the server.
    private static let conditions: Set = [
        "conditional-lm-fresh", "conditional-lm-fresh-earlier", "conditional-lm-fresh-no-lm",
        "conditional-lm-fresh-rfc850", "conditional-etag-strong-respond",
        "conditional-etag-weak-respond", "conditional-etag-strong-respond-multiple-first",
        "conditional-etag-strong-respond-multiple-second",
        "conditional-etag-strong-respond-multiple-last",
        // These two are required.
        "conditional-304-etag", "conditional-etag-precedence",
    ]

    /// A redirect is stored when it leads somewhere: these have no `Location`.
    private static let redirects = Set(
        [301, 302, 303, 307, 308].flatMap { ["status-\($0)-fresh", "status-\($0)-stale"] })
}

/// A manager for the cases, and the server that is their origin.
private final class CaseLibrary: CaseCache, Sendable {
    let origin: OriginServer
    let clock: Locked<Date>
    private let manager: KingfisherManager
    private let cache: ImageCache
    private let caching: HTTPCaching
    private let received = ReceivedResponse()
    private let folder: TemporaryDirectory

    var passesFields: Bool { true }

    init(_ caching: HTTPCaching) async throws {
        self.caching = caching
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

    private func caching(of step: PreparedCase.Step) -> HTTPCaching {
        var caching = caching
        // Errors may be used again, like pictures.
        caching.negative = .on(statuses: Set(400...599), lifetime: 0, limit: 1e9)
        if step.cache == "no-cache" { caching.validation = .always }
        return caching
    }

    func answer(
        _ request: HTTPCacheRequest, of step: PreparedCase.Step, from origin: inout SimulatedOrigin
    ) async -> SimulatedAnswer {
        let shared = self.origin.route(
            request.url.path, to: origin, OriginResponse.init(imageOf:)
        ) { [clock] in clock.set($0) }
        let target = request.url.query.map { "\(request.url.path)?\($0)" } ?? request.url.path
        let answer = await load(self.origin.url(target), request, step, token: origin.token)
        origin = shared.value
        return answer
    }

    /// Asks for the picture, and waits until nothing is under way in the background.
    private func load(
        _ url: URL, _ request: HTTPCacheRequest, _ step: PreparedCase.Step, token: String
    ) async -> SimulatedAnswer {
        received.last.set(nil)
        let revalidation = Recorder<Void>()
        let caching = caching(of: step)
        let options: KingfisherOptionsInfo = [
            .httpCaching(caching), .waitForCache, .processor(CaseImage()),
            .cacheSerializer(FormatIndicatedCacheSerializer.png),
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
            SimulatedAnswer(status: $0.statusCode, fields: HTTPFields($0))
        }
    }

    /// The response that the image was made of, as it is stored, with its present age.
    private func stored(
        _ url: URL, _ request: HTTPCacheRequest, _ caching: HTTPCaching
    ) -> SimulatedAnswer {
        let policy = HTTPCachePolicy(caching)
        let records = cache.responses.read(ResponseKey.key(url: url), under: policy)
        var asked = request
        asked.url = url
        guard case .response(let stored, _) = policy.select(asked, among: records.map(\.stored))
        else { return SimulatedAnswer(status: 0) }
        let age = policy.freshness(of: stored).age(at: clock.value)
        var fields = stored.fields
        fields.set("Age", to: String(Int(age)))
        return SimulatedAnswer(status: stored.status, fields: fields)
    }

    /// The server's answer as an error tells it. Its content is nobody's: it counts as the right one.
    private func failed(
        _ error: KingfisherError?, _ step: PreparedCase.Step, _ token: String
    ) -> SimulatedAnswer {
        var answer = SimulatedAnswer(status: 504)
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

/// Makes an image of a case's text, whose bytes are its pixels.
private struct CaseImage: ImageProcessor {
    /// Begins a body, as only images are accepted in an unknown coding.
    static let signature = "GIF"

    let identifier = "case"

    func process(
        item: ImageProcessItem, options: KingfisherParsedOptionsInfo
    ) -> KFCrossPlatformImage? {
        guard case .data(let body) = item, body.starts(with: Self.signature.utf8) else {
            return nil
        }
        // A pixel more, as there is no image without any.
        let bytes = body.dropFirst(Self.signature.utf8.count) + [0]
        return Bitmap(
            pixels: Data(bytes.flatMap { [$0, $0, $0, 255] }),
            size: PixelSize(width: bytes.count, height: 1)
        ).map { KFCrossPlatformImage(bitmap: $0) }
    }
}

extension OriginResponse {
    /// The answer with its text as an image for ``CaseImage``, or as much of it as the answer announces.
    fileprivate init(imageOf answer: SimulatedAnswer) {
        var headers = HeaderFields()
        for line in answer.fields.lines { headers.add(line.name, line.value) }
        let hasBody = ![204, 304].contains(answer.status)
        var body = hasBody ? CaseImage.signature + answer.body : ""
        let length = answer.fields.first("Content-Length").flatMap { Int($0) }
        // What were too much would be taken for the next response.
        if let length { body = String(body.prefix(length)) }
        self.init(status: answer.status, headers: headers, body: .text(body))
        if let length, body.isEmpty { behaviours = [.declaredLength(length)] }
    }
}

extension KFCrossPlatformImage {
    /// The text of which ``CaseImage`` has made it.
    fileprivate var caseText: String? {
        guard let bitmap = try? bitmap() else { return nil }
        let bytes = (0..<bitmap.size.width - 1).map { x in
            bitmap.data[x * bitmap.bytesPerPixel]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

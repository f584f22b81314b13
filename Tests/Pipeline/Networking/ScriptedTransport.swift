import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork

@testable import Halcyon

/// A network whose every exchange goes as a test says.
struct ScriptedTransport: HTTPTransport {
    let requests = Recorder<URLRequest>()
    private let script: @Sendable (URLRequest, ScriptedExchange) async throws -> Void

    init(_ script: @escaping @Sendable (URLRequest, ScriptedExchange) async throws -> Void) {
        self.script = script
    }

    /// Answers every request with 200 and these bytes, once `gate` is open if there is one.
    init(body: Data, after gate: Gate? = nil) {
        self.init { _, exchange in
            try await gate?.wait()
            try await exchange.answer(body)
        }
    }

    func perform(
        _ request: URLRequest, terms: ExchangeTerms,
        onResponse: @escaping @Sendable (AnswerHead) async throws -> BodyDisposition,
        onBody: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
    ) async throws -> ExchangeTimes? {
        requests.record(request)
        let exchange = ScriptedExchange(request: request, onResponse: onResponse, onBody: onBody)
        try await script(request, exchange)
        return nil
    }
}

struct ScriptedExchange: Sendable {
    let request: URLRequest
    let onResponse: @Sendable (AnswerHead) async throws -> BodyDisposition
    let onBody: @Sendable (UnsafeRawBufferPointer) throws -> Void

    @discardableResult
    func respond(_ status: Int = 200, headers: [String: String] = [:]) async throws
        -> BodyDisposition
    {
        try await onResponse(
            AnswerHead(
                url: request.url!, status: status, fields: headers.map { ($0.key, $0.value) }))
    }

    func send(_ data: Data) throws {
        try data.withUnsafeBytes(onBody)
    }

    func answer(_ body: Data, status: Int = 200) async throws {
        let headers = ["Content-Length": "\(body.count)"]
        if try await respond(status, headers: headers) == .receive { try send(body) }
    }
}

/// Makes a picture of one pixel, whose red is the first byte; nothing of a page or of no bytes.
struct FirstByteProcessor: ImageProcessor {
    let identifier: String
    let calls = Recorder<Int>()

    init(_ identifier: String = "test.first-byte") {
        self.identifier = identifier
    }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        guard case .data(let data) = item else { return nil }
        calls.record(data.count)
        guard let first = data.first, first != UInt8(ascii: "<"),
            let bitmap = Bitmap(
                pixels: Data([first, 0, 0, 255]), size: PixelSize(width: 1, height: 1))
        else { return nil }
        return Image(bitmap: bitmap, scale: options.scaleFactor)
    }
}

struct ClosureProcessor: ImageProcessor {
    var identifier = "test.closure"
    let make: @Sendable (ImageProcessItem, KingfisherParsedOptionsInfo) -> Image?

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo) -> Image? {
        make(item, options)
    }
}

extension KingfisherParsedOptionsInfo {
    /// Options with a processor, whose callbacks come on any thread.
    static func processing(
        _ processor: any ImageProcessor = FirstByteProcessor(), _ more: KingfisherOptionsInfo = []
    ) -> KingfisherParsedOptionsInfo {
        KingfisherParsedOptionsInfo([.processor(processor), .callbackQueue(.untouch)] + more)
    }

    static func modifying(
        _ modifier: any AsyncImageDownloadRequestModifier
    ) -> KingfisherParsedOptionsInfo {
        .processing(FirstByteProcessor(), [.requestModifier(modifier)])
    }
}

func changing(_ change: @escaping @Sendable (inout URLRequest) -> Void) -> AnyModifier {
    AnyModifier { request in
        var request = request
        change(&request)
        return request
    }
}

func setting(_ fields: [String: String]) -> AnyModifier {
    changing { request in
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
    }
}

typealias LoadingResult = Result<ImageLoadingResult, KingfisherError>

/// What a test came upon in place of what it goes on with.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ found: Any?) { description = "\(found ?? "nothing")" }
}

extension Result where Failure == KingfisherError {
    var error: KingfisherError? { if case .failure(let error) = self { error } else { nil } }

    /// The error's code; `nil` for a success.
    var errorCode: Int? { error?.errorCode }

    var transportError: ImageTransportError? { error?.transportError }
}

extension ImageTransportError {
    var kind: String? { Mirror(reflecting: self).children.first?.label }
}

extension KingfisherError {
    var transportError: ImageTransportError? {
        guard case .responseError(reason: .URLSessionError(let error)) = self else { return nil }
        return error as? ImageTransportError
    }
}

extension ImageDownloader {
    @discardableResult
    func download(
        _ url: URL, _ options: KingfisherParsedOptionsInfo = .processing(),
        into results: Recorder<LoadingResult>
    ) -> DownloadTask {
        downloadImage(with: url, options: options) { results.record($0) }
    }

    func result(
        _ url: URL, _ options: KingfisherParsedOptionsInfo = .processing()
    ) async -> LoadingResult {
        await handedOver { hand in
            downloadImage(with: url, options: options) { hand($0) }
        }
    }
}

final class RecordingDelegate: ImageDownloaderDelegate {
    let events = Recorder<String>()
    let responses = Recorder<URLResponse>()
    private let keepsData: Bool
    private let disposition: URLSession.ResponseDisposition

    init(keepsData: Bool = true, disposition: URLSession.ResponseDisposition = .allow) {
        self.keepsData = keepsData
        self.disposition = disposition
    }

    func imageDownloader(
        _ downloader: ImageDownloader, willDownloadImageForURL url: URL, with request: URLRequest?
    ) {
        events.record("will")
    }

    func imageDownloader(
        _ downloader: ImageDownloader, didFinishDownloadingImageForURL url: URL,
        with response: URLResponse?, error: (any Error)?
    ) {
        let code = (error as? KingfisherError).map { " \($0.errorCode)" } ?? ""
        events.record("finished\(code)")
    }

    func imageDownloader(_ downloader: ImageDownloader, didDownload data: Data, for url: URL)
        -> Data?
    {
        events.record("data \(data.count)")
        return keepsData ? data : nil
    }

    func imageDownloader(
        _ downloader: ImageDownloader, didDownload image: KFCrossPlatformImage, for url: URL,
        with response: URLResponse?
    ) {
        events.record("image")
    }

    func isValidStatusCode(_ code: Int, for downloader: ImageDownloader) -> Bool {
        events.record("status \(code)")
        return (200..<400).contains(code)
    }

    func imageDownloader(_ downloader: ImageDownloader, didReceive response: URLResponse) async
        -> URLSession.ResponseDisposition
    {
        responses.record(response)
        events.record("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        return disposition
    }
}

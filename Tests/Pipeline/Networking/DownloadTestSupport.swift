import Foundation
import FoundationNetworking
import HalcyonTestKit
import HalcyonWork

@testable import Halcyon

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

import Foundation
import HalcyonTestKit

@testable import Halcyon

/// An origin with one picture, a folder for partial files, and downloaders that share nothing else, so
/// that each stands for a run of the program.
struct ResumptionFixture: Sendable {
    let origin: OriginServer
    let folder: TemporaryDirectory
    let picture: Data
    let tag = "\"one\""
    let path = "/photo.png"

    init(picture: Data = PNGFixture.data(.noise(width: 8, height: 6))) async throws {
        origin = try await OriginServer.start()
        folder = try TemporaryDirectory()
        self.picture = picture
    }

    var url: URL { origin.url(path) }
    var partials: URL { folder.file("partials") }

    /// What the server has, with ranges and a strong validator.
    var response: OriginResponse { OriginResponse.png(picture).with(.ranges, .entityTag(tag)) }

    /// The answer to a request for the rest after `start`, with everything right; `length` is that of
    /// the part.
    func rest(after start: Int, length: Int? = nil) -> OriginResponse {
        let part = picture.dropFirst(start).prefix(length ?? .max)
        return OriginResponse(
            status: 206,
            headers: [
                "Content-Type": "image/png", "ETag": tag,
                "Content-Range": "bytes \(start)-\(start + part.count - 1)/\(picture.count)",
            ],
            body: .data(Data(part)))
    }

    func downloader() -> ImageDownloader {
        let downloader = ImageDownloader.patient("resuming")
        downloader.resumption = DownloadResumption(directory: partials, minimumSize: 1)
        return downloader
    }

    /// Downloads the picture, or what another URL has, by default with a downloader of its own.
    func load(
        of url: URL? = nil, _ downloader: ImageDownloader? = nil,
        _ options: KingfisherParsedOptionsInfo = .processing()
    ) async -> LoadingResult {
        let downloader = downloader ?? self.downloader()
        let result = await downloader.result(url ?? self.url, options)
        await downloader.finishWritingPartials()
        return result
    }

    /// Serves the picture whole, and downloads it with a downloader of its own.
    func loadWhole() async -> Data? {
        origin.route(path, response)
        return await load().bytes
    }

    /// Has a download break off after `count` bytes of the body.
    func breakOff(
        after count: Int, _ response: OriginResponse? = nil,
        _ options: KingfisherParsedOptionsInfo = .processing()
    ) async -> LoadingResult {
        origin.route(path, (response ?? self.response).with(.breakOff(afterBytes: count, .close)))
        return await load(nil, options)
    }

    /// The ranges that were asked for, request by request.
    var ranges: [String?] { origin.requests(for: path).map { $0.headers["Range"] } }

    func files() throws -> [URL] {
        guard FileManager.default.fileExists(atPath: partials.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(
            at: partials, includingPropertiesForKeys: nil
        ).filter { $0.pathExtension == "part" }
    }
}

extension Result<ImageLoadingResult, KingfisherError> {
    var bytes: Data? { (try? get())?.originalData }
}

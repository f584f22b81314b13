import Foundation
import HalcyonTestKit

@testable import Halcyon
@testable import HalcyonGTK

/// An origin with pictures of one colour each, and a cache and a downloader for them.
final class LoadingFixture {
    static let colors: [Pixel] = [
        .red, .green, .blue, .white, Pixel(255, 255, 0), Pixel(0, 255, 255), Pixel(255, 0, 255),
        Pixel(128, 128, 128),
    ]

    let origin: OriginServer
    let folder: TemporaryDirectory
    let cache: ImageCache
    let downloader = ImageDownloader.patient("gtk")

    /// - Parameter pause: What the origin waits for before each answer.
    init(pause: Pause? = nil) async throws {
        origin = try await OriginServer.start()
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
        for (number, color) in Self.colors.enumerated() {
            let response = OriginResponse.png(PNGFixture.solid(color, width: 8, height: 8))
            origin.route("/\(number).png", pause.map { response.with(.wait($0)) } ?? response)
        }
    }

    /// Where the picture of the n-th colour is.
    func url(_ number: Int) -> URL { origin.url("/\(number).png") }

    func options(_ more: KingfisherOptionsInfo = []) -> KingfisherOptionsInfo {
        [.targetCache(cache), .downloader(downloader)] + more
    }
}

import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

typealias SettingResult = Result<RetrieveImageResult, KingfisherError>

/// An origin with pictures of different widths, a cache and a downloader of its own, and the options
/// that make a view use them.
@MainActor final class PresentationFixture {
    let origin: OriginServer
    let folder: TemporaryDirectory
    let cache: ImageCache
    let downloader = ImageDownloader.patient()
    private let widths: ClosedRange<Int>

    init(widths: ClosedRange<Int> = 1...8) async throws {
        self.widths = widths
        origin = try await OriginServer.start()
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
        downloader.maximumConnectionsPerHost = 64
        for width in widths { origin.route("/\(width).png", .png(Self.png(width: width))) }
    }

    /// Has every image of `url(width:)` wait from now on, until the gate is opened.
    @discardableResult func hold() -> Gate {
        let gate = Gate()
        for width in widths { hold(width: width, gate) }
        return gate
    }

    /// Has the image of `url(width:)` wait for a gate from now on.
    func hold(width: Int, _ gate: Gate) {
        let response = OriginResponse.png(Self.png(width: width))
        origin.route("/\(width).png", response.with(.wait(.gate(gate))))
    }

    static func png(width: Int) -> Data {
        PNGFixture.data(.gradient(width: width, height: 5))
    }

    static func image(width: Int) -> Image {
        Image(data: png(width: width))!
    }

    func url(width: Int) -> URL { origin.url("/\(width).png") }

    /// Nothing is there.
    var missing: URL { origin.url("/missing.png") }

    var options: KingfisherOptionsInfo { using([]) }

    func using(_ more: KingfisherOptionsInfo) -> KingfisherOptionsInfo {
        [.targetCache(cache), .downloader(downloader), .waitForCache] + more
    }

    func builder(_ url: URL) -> KF.Builder {
        KF.url(url).targetCache(cache).downloader(downloader)
    }

    /// Puts the picture of this width on the disk, and not into memory.
    func cacheOnDisk(width: Int) async throws {
        try await cache.storeToDisk(Self.png(width: width), forKey: url(width: width).cacheKey)
    }

    func cachedType(width: Int) -> CacheType {
        cache.imageCachedType(forKey: url(width: width).cacheKey)
    }

    @discardableResult func set(
        _ width: Int, in view: HeadlessImageView, _ more: KingfisherOptionsInfo = [],
        then completion: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        view.kf.setImage(
            with: url(width: width), options: using(more), completionHandler: completion)
    }

    func show(
        _ url: URL?, in view: HeadlessImageView, placeholder: (any Placeholder)? = nil,
        _ more: KingfisherOptionsInfo = []
    ) async -> SettingResult {
        await handedOver { hand in
            view.kf.setImage(with: url, placeholder: placeholder, options: using(more)) {
                hand($0)
            }
        }
    }
}

extension Result where Success == RetrieveImageResult, Failure == KingfisherError {
    var value: RetrieveImageResult? { if case .success(let value) = self { value } else { nil } }
    var width: Int? { value?.image.pixelSize.width }
}

@MainActor final class Results {
    private let recorder = Recorder<(Int, SettingResult)>()

    /// A completion that adds its result under `number`.
    func add(_ number: Int = 0) -> ImageSettingCompletion {
        { [recorder] in recorder.record((number, $0)) }
    }

    var count: Int { recorder.count }

    /// The results in the order of their numbers, once there are `count`.
    func wait(for count: Int) async -> [SettingResult] {
        await recorder.waitFor(count: count).sorted { $0.0 < $1.0 }.map(\.1)
    }
}

/// A serializer whose reading of images waits until a test lets it go on.
final class HeldSerializer: CacheSerializer {
    private let isReading = Gate()
    private let mayRead = DispatchSemaphore(value: 0)

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { original }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        isReading.open()
        mayRead.wait()
        return Image(data: data)
    }

    func waitUntilReading() async throws {
        try await isReading.wait()
    }

    func letGoOn() {
        mayRead.signal()
    }
}

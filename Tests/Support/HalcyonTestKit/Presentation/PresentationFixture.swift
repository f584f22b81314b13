import Dispatch
package import Foundation
package import Halcyon
import HalcyonWork

/// An origin with pictures of different widths, a cache and a downloader of its own, and the options
/// that make a view use them.
@MainActor package final class PresentationFixture {
    package let origin: OriginServer
    package let folder: TemporaryDirectory
    package let cache: ImageCache
    package let downloader = ImageDownloader.patient()
    private let widths: ClosedRange<Int>

    package init(widths: ClosedRange<Int> = 1...8) async throws {
        self.widths = widths
        origin = try await OriginServer.start()
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
        downloader.maximumConnectionsPerHost = 64
        for width in widths { origin.route("/\(width).png", .png(Self.png(width: width))) }
    }

    /// Has every image of `url(width:)` wait from now on, until the gate is opened.
    @discardableResult package func hold() -> Gate {
        let gate = Gate()
        for width in widths { hold(width: width, gate) }
        return gate
    }

    /// Has the image of `url(width:)` wait for a gate from now on.
    package func hold(width: Int, _ gate: Gate) {
        let response = OriginResponse.png(Self.png(width: width))
        origin.route("/\(width).png", response.with(.wait(.gate(gate))))
    }

    package static func png(width: Int) -> Data {
        PNGFixture.data(.gradient(width: width, height: 5))
    }

    package static func image(width: Int) -> Image {
        Image(data: png(width: width))!
    }

    /// Where the picture of this width is.
    package func url(width: Int) -> URL { origin.url("/\(width).png") }

    /// Nothing is there.
    package var missing: URL { origin.url("/missing.png") }

    package var options: KingfisherOptionsInfo { using([]) }

    package func using(_ more: KingfisherOptionsInfo) -> KingfisherOptionsInfo {
        [.targetCache(cache), .downloader(downloader), .waitForCache] + more
    }

    /// A builder that uses its cache and its downloader.
    package func builder(_ url: URL) -> KF.Builder {
        KF.url(url).targetCache(cache).downloader(downloader)
    }

    /// Puts the picture of this width on the disk, and not into memory.
    package func cacheOnDisk(width: Int) async throws {
        try await cache.storeToDisk(Self.png(width: width), forKey: url(width: width).cacheKey)
    }

    package func cachedType(width: Int) -> CacheType {
        cache.imageCachedType(forKey: url(width: width).cacheKey)
    }

    /// Sets the image of `url(width:)`.
    @discardableResult package func set(
        _ width: Int, in view: HeadlessImageView, _ more: KingfisherOptionsInfo = [],
        then completion: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        view.kf.setImage(
            with: url(width: width), options: using(more), completionHandler: completion)
    }

    /// Sets an image and returns the result.
    package func show(
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

/// A serializer whose reading of images waits until a test lets it go on.
package final class HeldSerializer: CacheSerializer {
    private let isReading = Gate()
    private let mayRead = DispatchSemaphore(value: 0)

    package init() {}

    package func data(with image: KFCrossPlatformImage, original: Data?) -> Data? { original }

    package func image(with data: Data, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        isReading.open()
        mayRead.wait()
        return Image(data: data)
    }

    package func waitUntilReading() async throws {
        try await isReading.wait()
    }

    package func letGoOn() {
        mayRead.signal()
    }
}

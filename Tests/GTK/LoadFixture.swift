import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit

@testable import Halcyon
@testable import HalcyonGTK

/// An origin with pictures of one colour each, a cache and a downloader of its own, and the options that
/// make a view use them.
@MainActor class LoadFixture {
    let origin: OriginServer
    let folder: TemporaryDirectory
    let cache: ImageCache
    let downloader = ImageDownloader.patient()

    init() async throws {
        origin = try await OriginServer.start()
        folder = try TemporaryDirectory()
        cache = try ImageCache(name: "test", cacheDirectoryURL: folder.url)
    }

    /// Serves a picture of one colour at `path`, once `gate` is open.
    func route(
        _ path: String, _ pixel: Pixel, width: Int = 20, height: Int = 20, gate: Gate? = nil
    ) -> URL {
        route(path, PNGFixture.solid(pixel, width: width, height: height), gate: gate)
    }

    /// Serves a file at `path`, once `gate` is open.
    func route(_ path: String, _ data: Data, gate: Gate? = nil) -> URL {
        let response = OriginResponse.ok(data)
        origin.route(path, gate.map { response.with(.wait(.gate($0))) } ?? response)
        return origin.url(path)
    }

    /// Nothing is there.
    var missing: URL { origin.url("/missing.png") }

    func using(_ more: KingfisherOptionsInfo = []) -> KingfisherOptionsInfo {
        [.targetCache(cache), .downloader(downloader), .waitForCache] + more
    }

    /// What setting an image ends with.
    @discardableResult
    func show(
        _ url: URL?, in view: ImageView, placeholder: (any Placeholder)? = nil,
        _ more: KingfisherOptionsInfo = []
    ) async -> SettingResult {
        await withCheckedContinuation { continuation in
            view.kf.setImage(with: url, placeholder: placeholder, options: using(more)) {
                continuation.resume(returning: $0)
            }
        }
    }
}

/// Results of several calls, in the order in which they came.
typealias Results = Recorder<SettingResult>

extension Recorder where Event == SettingResult {
    /// A completion that records its result.
    func add() -> ImageSettingCompletion { { self.record($0) } }
}

extension Pixel {
    /// Whether no channel differs by more than `tolerance`.
    func isNear(_ other: Pixel, within tolerance: Int = 3) -> Bool {
        zip(
            [red, green, blue, alpha], [other.red, other.green, other.blue, other.alpha]
        ).allSatisfy { abs(Int($0) - Int($1)) <= tolerance }
    }

    /// The mean of two opaque pixels.
    static func mean(_ a: Pixel, _ b: Pixel) -> Pixel {
        func mean(_ a: UInt8, _ b: UInt8) -> UInt8 { UInt8((Int(a) + Int(b)) / 2) }
        return Pixel(
            mean(a.red, b.red), mean(a.green, b.green), mean(a.blue, b.blue),
            mean(a.alpha, b.alpha))
    }
}

extension Bitmap {
    /// How many pixels anything is drawn on.
    var visiblePixelCount: Int {
        var count = 0
        for y in 0..<size.height {
            for x in 0..<size.width where self[x, y].alpha > 0 { count += 1 }
        }
        return count
    }

    /// Whether all pixels of the two are the same.
    func isEqual(to other: Bitmap) -> Bool {
        guard size == other.size else { return false }
        for y in 0..<size.height {
            for x in 0..<size.width where pixel(x, y) != other.pixel(x, y) { return false }
        }
        return true
    }
}

/// An image of exactly these pixels, in memory already.
func image(_ grid: PixelGrid, scale: CGFloat = 1) -> Image {
    Image(bitmap: bitmap(grid), scale: scale)
}

func bitmap(_ grid: PixelGrid) -> Bitmap {
    let bytes = grid.pixels.flatMap { [$0.red, $0.green, $0.blue, $0.alpha] }
    return Bitmap(pixels: Data(bytes), size: PixelSize(width: grid.width, height: grid.height))!
}

/// An animation of plain frames, a tenth of a second each, as a file.
func gif(_ colors: [Pixel], width: Int = 10, height: Int = 10) -> Data {
    let frames = colors.map { GIFFixture.Frame(.solid($0, width: width, height: height)) }
    return GIFFixture.data(frames, loopCount: 0)
}

/// An image of the same pixels as a file that is not decoded yet.
func pendingImage(_ grid: PixelGrid) -> Image { Image(data: PNGFixture.data(grid))! }

/// A view that shows an image all over its place, by the clock of its window or by another one.
@MainActor func stretched(
    _ image: Image? = nil, ticker: (any FrameTicker)? = nil
) -> ImageView {
    let view = ImageView(image: image)
    view.contentMode = .stretch
    if let ticker { view.frameTicker = ticker }
    return view
}

/// A view that fills its place with one colour.
@MainActor func square(_ pixel: Pixel) -> ImageView {
    stretched(image(.solid(pixel, width: 4, height: 4)))
}

extension Bitmap {
    /// The pixel at column `x` of row `y`.
    func pixel(_ x: Int, _ y: Int) -> Pixel {
        let color = self[x, y]
        func byte(_ component: CGFloat) -> UInt8 { UInt8((component * 255).rounded()) }
        return Pixel(byte(color.red), byte(color.green), byte(color.blue), byte(color.alpha))
    }
}

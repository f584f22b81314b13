import Foundation
import FoundationNetworking
import Halcyon
import HalcyonTestKit
import Vips

/// The code in the documentation of types, each piece between two markers that name its file; see
/// `GuideSnippets`. `CommentSnippetTests` runs it.
enum CommentSnippets {
    static func manager(_ manager: KingfisherManager, _ url: URL) async throws
        -> RetrieveImageResult
    {
        // guide: KingfisherManager/example
        manager.defaultOptions = [.diskCacheExpiration(.days(30))]

        let thumbnail = DownsamplingImageProcessor(size: CGSize(width: 32, height: 32))
        let result = try await manager.retrieveImage(with: url, options: [.processor(thumbnail)])
        print(result.image.size, result.cacheType)
        // end
        return result
    }

    static func cache(_ folder: URL, _ avatar: Image) async throws -> (ImageCache, CacheType) {
        // guide: ImageCache/example
        let cache = try ImageCache(name: "avatars", cacheDirectoryURL: folder)
        cache.memoryStorage.config.totalCostLimit = 64 << 20
        cache.diskStorage.config.sizeLimit = 500 << 20

        try await cache.store(avatar, forKey: "user-42")
        let found = try await cache.retrieveImage(forKey: "user-42")
        print(found.cacheType, found.image?.pixelSize ?? "nothing")
        // end
        return (cache, found.cacheType)
    }

    static func downloader(_ url: URL) async throws -> ImageLoadingResult {
        // guide: ImageDownloader/example
        let downloader = ImageDownloader(name: "avatars")
        downloader.maximumResponseSize = 4 << 20

        let result = try await downloader.downloadImage(with: url)
        print(result.image.pixelSize, "in", result.originalData.count, "bytes")
        // end
        return result
    }

    static func prefetcher(
        _ urls: [URL], _ options: KingfisherOptionsInfo,
        report: @escaping @Sendable ([Int]) -> Void
    ) {
        // guide: ImagePrefetcher/example
        let prefetcher = ImagePrefetcher(urls: urls, options: options) { skipped, failed, loaded in
            report([skipped.count, failed.count, loaded.count])
        }
        prefetcher.maxConcurrentDownloads = 10
        prefetcher.start()
        // end
    }

    @MainActor static func builder(
        _ url: URL, _ cache: ImageCache, _ imageView: HeadlessImageView,
        report: @escaping @MainActor (Result<RetrieveImageResult, KingfisherError>) -> Void
    ) {
        // guide: Source/builder
        KF.url(url)
            .targetCache(cache)
            .downsampling(size: CGSize(width: 32, height: 32))
            .roundCorner(radius: .widthFraction(0.5))
            .onSuccess { result in report(.success(result)) }
            .onFailure { error in report(.failure(error)) }
            .set(to: imageView)
        // end
    }

    static func image(_ bytes: Data) throws -> Data {
        // guide: Image/example
        let photo = try Image.decoding(bytes)
        let square = photo.kf.crop(
            to: CGSize(width: 48, height: 48), anchorOn: CGPoint(x: 0.5, y: 0.5))
        print(photo.pixelSize, "cut to", square.pixelSize)
        let jpeg = try square.kf.data(format: .JPEG, options: ImageEncodingOptions(quality: 0.8))
        // end
        return jpeg
    }

    static func hash(_ photo: Image) async throws -> (BlurHash, Bitmap) {
        // guide: BlurHash/example
        let hash = try await photo.kf.blurHash()
        print(hash)
        let preview = hash.bitmap(size: PixelSize(width: 32, height: 24))
        // end
        return (hash, preview)
    }

    static func likeness(_ photo: Image, _ copy: Image) async throws -> Int {
        // guide: PerceptualHash/example
        let distance = try await photo.kf.pHash().distance(to: copy.kf.pHash())
        print(distance <= 10 ? "the same picture" : "another picture")
        // end
        return distance
    }

    static func colors(_ cover: Image) async throws -> (Color, Color) {
        // guide: ColorPalette/example
        let palette = try await cover.kf.palette(count: 5)
        let background = palette.dominant ?? palette.average
        let title = background.textColor(preferring: palette.colors)
        // end
        return (background, title)
    }

    static func watermark(_ logo: Image) -> WatermarkImageProcessor {
        // guide: WatermarkImageProcessor/example
        let mark = WatermarkImageProcessor(
            logo, name: "logo-2", opacity: 0.6, scale: 0.2,
            placement: .once(anchor: CGPoint(x: 1, y: 1), offset: CGPoint(x: -8, y: -8)))
        // end
        return mark
    }

    static func addresses(_ downloader: ImageDownloader) {
        // guide: AddressPolicy/example
        downloader.addressPolicy = .publicOnly
        // end
    }

    static func brightest(_ image: VipsImage) throws -> Double? {
        // guide: VipsOperation/example
        var operation = VipsOperation("max")
        operation.set("in", .image(image))
        let brightest = try operation.run().double("out")
        // end
        return brightest
    }

    static func route(_ server: OriginServer, _ png: Data, _ gate: Gate) {
        // guide: OriginResponse/example
        server.route(
            "/cat.png", .ok(png, contentType: "image/png").with(.wait(.gate(gate)), .ranges))
        // end
    }
}

// guide: ImageProcessor/example
/// A faded picture of a given width, in points.
struct FadedPicture: ImageProcessor {
    let width: CGFloat
    var identifier: String { "org.example.FadedPicture(\(width))" }

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        DefaultImageProcessor.default.process(item: item, options: options)?
            .kf.resize(to: CGSize(width: width, height: width), for: .aspectFit)
            .kf.adjusted(brightness: 0, contrast: 1, saturation: 0.5, inputEV: 0)
    }
}
// end

// guide: CacheSerializer/example
/// Keeps every image as a small WebP file, whatever it was made of.
struct SmallFiles: CacheSerializer {
    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        // What cannot be written is not cached.
        try? image.kf.data(format: .WebP, options: ImageEncodingOptions(quality: 0.6))
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultCacheSerializer.default.image(with: data, options: options)
    }
}
// end

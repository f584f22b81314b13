import Foundation
import FoundationNetworking
import Halcyon

/// The code of the guides in `docs`, each piece between two markers: what is printed there is compiled
/// here, and run by `GuideTests` unless it needs an outside network.
enum GuideSnippets {
    // MARK: README

    static func readme() async throws {
        // guide: README/first
        let url = URL(string: "https://example.org/kingfisher.jpg")!
        let thumbnail = DownsamplingImageProcessor(size: CGSize(width: 400, height: 400))
        let result = try await KingfisherManager.shared.retrieveImage(
            with: url, options: [.processor(thumbnail)])
        print(result.image.size, result.cacheType)

        let bytes = try await ImageCache.default.diskStorageSize
        print("\(bytes) bytes are cached")
        // end
    }

    // MARK: Getting started

    static func first() async throws {
        // guide: getting-started/first
        let url = URL(string: "https://example.org/kingfisher.jpg")!
        let result = try await KingfisherManager.shared.retrieveImage(with: url)
        print(result.image.size, result.cacheType)
        // end
    }

    static func options(_ manager: KingfisherManager, _ url: URL) async throws -> Image {
        // guide: getting-started/options
        let processor = DownsamplingImageProcessor(size: CGSize(width: 32, height: 32))
        let options: KingfisherOptionsInfo = [.processor(processor), .forceRefresh]
        let result = try await manager.retrieveImage(with: url, options: options)
        // end
        return result.image
    }

    static func save(_ image: Image, to file: URL) throws {
        // guide: getting-started/save
        let data = try image.kf.data(format: .JPEG, options: ImageEncodingOptions(quality: 0.85))
        try data.write(to: file)
        // end
    }

    static func manager(_ directory: URL) throws -> KingfisherManager {
        // guide: getting-started/manager
        let cache = try ImageCache(name: "thumbnails", cacheDirectoryURL: directory)
        let downloader = ImageDownloader(name: "thumbnails")
        let manager = KingfisherManager(downloader: downloader, cache: cache)
        manager.defaultOptions = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 16, height: 16)))
        ]
        // end
        return manager
    }

    static func errors(_ manager: KingfisherManager, _ url: URL) async throws -> Image? {
        // guide: getting-started/errors
        do {
            return try await manager.retrieveImage(with: url).image
        } catch let error as KingfisherError where error.isInvalidResponseStatusCode(404) {
            return nil
        }
        // end
    }

    static func callback(
        _ manager: KingfisherManager, _ url: URL, show: @escaping @Sendable (Image) -> Void,
        report: @escaping @Sendable (KingfisherError) -> Void
    ) -> DownloadTask? {
        // guide: getting-started/callback
        let task = manager.retrieveImage(with: url) { result in
            switch result {
            case .success(let value): show(value.image)
            case .failure(let error): report(error)
            }
        }
        // end
        return task
    }

    static func sources(_ manager: KingfisherManager, _ file: URL, _ bytes: Data) async throws
        -> [Image]
    {
        // guide: getting-started/sources
        let fromFile = try await manager.retrieveImage(with: file)
        let provider = RawImageDataProvider(data: bytes, cacheKey: "upload-17")
        let fromMemory = try await manager.retrieveImage(with: .provider(provider))
        // end
        return [fromFile.image, fromMemory.image]
    }

    // MARK: Caching

    static func limits(_ cache: ImageCache) {
        // guide: caching/limits
        cache.memoryStorage.config.totalCostLimit = 64 << 20
        cache.memoryStorage.config.expiration = .seconds(600)
        cache.diskStorage.config.sizeLimit = 500 << 20
        cache.diskStorage.config.expiration = .days(30)
        // end
    }

    static func key(_ manager: KingfisherManager, _ url: URL) async throws -> Image {
        // guide: caching/key
        let resource = KF.ImageResource(downloadURL: url, cacheKey: "avatar-42")
        let image = try await manager.retrieveImage(with: resource).image
        // end
        return image
    }

    static func look(_ cache: ImageCache, _ url: URL) -> (CacheType, URL?) {
        // guide: caching/look
        let processor = BlurImageProcessor(blurRadius: 4)
        let place = cache.imageCachedType(
            forKey: url.cacheKey, processorIdentifier: processor.identifier)
        let file = cache.cacheFileURLIfOnDisk(
            forKey: url.cacheKey, processorIdentifier: processor.identifier)
        // end
        return (place, file)
    }

    static func cacheOptions() -> KingfisherOptionsInfo {
        // guide: caching/options
        let options: KingfisherOptionsInfo = [
            .memoryCacheExpiration(.seconds(60)),
            .diskCacheExpiration(.days(1)),
            .cacheOriginalImage,
            .cacheSerializer(FormatIndicatedCacheSerializer.webp(compressionQuality: 0.8)),
        ]
        // end
        return options
    }

    static func direct(_ cache: ImageCache, _ image: Image) async throws -> Image? {
        // guide: caching/direct
        try await cache.store(image, forKey: "avatar-42")
        let found = try await cache.retrieveImage(forKey: "avatar-42").image
        try await cache.removeImage(forKey: "avatar-42")
        // end
        return found
    }

    static func clean(_ cache: ImageCache) async throws -> UInt {
        // guide: caching/clean
        await cache.cleanExpiredCache()
        let bytes = try await cache.diskStorageSize
        await cache.clearCache()
        // end
        return bytes
    }

    // MARK: Processing

    static func chain(_ manager: KingfisherManager, _ url: URL) async throws -> Image {
        // guide: processing/chain
        let processor =
            DownsamplingImageProcessor(size: CGSize(width: 40, height: 40))
            |> RoundCornerImageProcessor(radius: .widthFraction(0.5))
        let avatar = try await manager.retrieveImage(
            with: url,
            options: [
                .processor(processor), .cacheSerializer(FormatIndicatedCacheSerializer.png),
            ]
        ).image
        // end
        return avatar
    }

    static func image(_ bytes: Data) async throws -> Image {
        // guide: processing/image
        let image = try Image.decoding(bytes)
            .kf.crop(to: CGSize(width: 32, height: 32), anchorOn: CGPoint(x: 0.5, y: 0))
            .kf.tinted(with: Color(red: 1, green: 0.8, blue: 0.2, alpha: 0.3))
        let rendered = try await image.rendered()
        // end
        return rendered
    }

    static func glance(_ photo: Image) async throws -> (String, String, PerceptualHash) {
        // guide: processing/glance
        let blurHash = try await photo.kf.blurHash().description
        let thumbHash = try await photo.kf.thumbHash().description
        let likeness = try await photo.kf.pHash()
        // end
        return (blurHash, thumbHash, likeness)
    }

    static func text(_ manager: KingfisherManager, _ url: URL) async throws -> Image {
        // guide: processing/text
        let processor = try ImageProcessorSpec.parse("resize:32x32:fit|>blur:3")
        let image = try await manager.retrieveImage(with: url, options: [.processor(processor)])
        // end
        return image.image
    }

    // MARK: Downloading

    static func download(_ downloader: ImageDownloader, _ url: URL) async throws -> (Image, Data) {
        // guide: downloading/direct
        let result = try await downloader.downloadImage(with: url)
        let (image, bytes) = (result.image, result.originalData)
        // end
        return (image, bytes)
    }

    static func modify(_ manager: KingfisherManager, _ url: URL, _ token: String) async throws
        -> Image
    {
        // guide: downloading/modify
        let modifier = AnyModifier { request in
            var request = request
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            return request
        }
        let result = try await manager.retrieveImage(
            with: url, options: [.requestModifier(modifier)])
        // end
        return result.image
    }

    static func recover(
        _ manager: KingfisherManager, _ url: URL, _ mirror: URL, pause: TimeInterval
    ) async throws -> RetrieveImageResult {
        // guide: downloading/recover
        let retries = DelayRetryStrategy(maxRetryCount: 3, retryInterval: .accumulated(pause))
        let result = try await manager.retrieveImage(
            with: url,
            options: [.retryStrategy(retries), .alternativeSources([.network(mirror)])])
        // end
        return result
    }

    static func limits(_ downloader: ImageDownloader) {
        // guide: downloading/limits
        downloader.downloadTimeout = 10
        downloader.maximumDownloadDuration = 120
        downloader.maximumResponseSize = 20 << 20
        downloader.maximumConnectionsPerHost = 4
        downloader.decodingLimits = DecodingLimits(maximumPixelCount: 40_000_000)
        // end
    }

    static func pin(_ downloader: ImageDownloader, _ pins: Set<Data>) {
        // guide: downloading/pin
        downloader.serverTrustEvaluator = .afterVerification { trust in
            trust.host != "images.example.org" || pins.contains(trust.publicKey)
        }
        // end
    }

    static func cancel(_ manager: KingfisherManager, _ url: URL) async -> Bool {
        // guide: downloading/cancel
        let load = Task { try await manager.retrieveImage(with: url) }
        load.cancel()
        // end
        if case .failure = await load.result { return true } else { return false }
    }

    // MARK: Prefetching

    static func prefetch(
        _ urls: [URL], _ options: KingfisherOptionsInfo,
        done: @escaping @Sendable (_ cached: Int, _ failed: Int, _ loaded: Int) -> Void
    ) {
        // guide: prefetching/start
        let prefetcher = ImagePrefetcher(urls: urls, options: options) {
            skipped, failed, completed in
            done(skipped.count, failed.count, completed.count)
        }
        prefetcher.maxConcurrentDownloads = 3
        prefetcher.start()
        // end
    }

    static func options(_ cache: ImageCache, _ downloader: ImageDownloader) -> KingfisherOptionsInfo
    {
        // guide: prefetching/options
        let options: KingfisherOptionsInfo = [
            .targetCache(cache),
            .downloader(downloader),
            .processor(DownsamplingImageProcessor(size: CGSize(width: 32, height: 32))),
            .alsoPrefetchToMemory,
        ]
        // end
        return options
    }

    static func stop(
        _ sources: [Source], _ options: KingfisherOptionsInfo,
        done: @escaping @Sendable (_ failed: Int) -> Void
    ) {
        // guide: prefetching/stop
        let prefetcher = ImagePrefetcher(
            sources: sources, options: options,
            progressBlock: { skipped, failed, completed in
                print(skipped.count + failed.count + completed.count, "of", sources.count)
            },
            completionHandler: { _, failed, _ in done(failed.count) })
        prefetcher.start()
        prefetcher.stop()
        // end
    }

    static func reasons(_ prefetcher: ImagePrefetcher) -> [String] {
        // guide: prefetching/failures
        let reasons = prefetcher.failures.map { failure in
            "\(failure.source.cacheKey): \(failure.error.localizedDescription)"
        }
        // end
        return reasons
    }
}

// guide: processing/custom
struct PostcardProcessor: ImageProcessor {
    let identifier = "org.example.postcard"

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        let image = DefaultImageProcessor.default.process(item: item, options: options)
        return image?
            .kf.resize(to: CGSize(width: 48, height: 32), for: .aspectFill)
            .kf.crop(to: CGSize(width: 48, height: 32), anchorOn: CGPoint(x: 0.5, y: 0.5))
            .kf.addingBorder(Border(color: .white, lineWidth: 2))
    }
}
// end

/// A program's `main` cannot stand in a test.
enum ProgramWithWorkers {
    // guide: security/main
    static func main() async {
        DecodingWorker.runIfAsked()
        // The rest of the program.
    }
    // end
}

enum OtherProgramWithWorkers {
    // guide: DecodingWorker/main
    static func main() async {
        DecodingWorker.runIfAsked()
        // The rest of the program.
    }
    // end
}

import Foundation
import FoundationNetworking
import Halcyon
import HalcyonTestKit
import Testing

/// The code of the guides in `docs`, each piece between two markers: what is printed there is compiled
/// here, without what is not public, and run on an origin of this process.
@Suite struct GuideSnippetTests {
    let fixture: ManagerFixture
    private let missing: URL

    init() async throws {
        fixture = try await ManagerFixture()
        missing = fixture.origin.url("/missing.png")
    }

    private var manager: KingfisherManager { fixture.manager }
    private var cache: ImageCache { fixture.cache }
    private var downloader: ImageDownloader { fixture.downloader }
    private var url: URL { fixture.url }
    private var bytes: Data { fixture.png }
    private var image: Image { Image(data: fixture.png)! }

    /// A URL of which nothing ever comes.
    private func slowURL() -> URL {
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(Gate()))))
        return fixture.origin.url("/slow.png")
    }

    // MARK: Getting started

    @Test func optionsAskForASmallerImage() async throws {
        // guide: getting-started/options
        let processor = DownsamplingImageProcessor(size: CGSize(width: 32, height: 32))
        let options: KingfisherOptionsInfo = [.processor(processor), .forceRefresh]
        let result = try await manager.retrieveImage(with: url, options: options)
        // end
        #expect(result.image.pixelSize == PixelSize(width: 32, height: 24))
    }

    @Test func anImageIsSavedAsJPEG() throws {
        let file = fixture.folder.file("saved.jpg")
        // guide: getting-started/save
        let data = try image.kf.data(format: .JPEG, options: ImageEncodingOptions(quality: 0.85))
        try data.write(to: file)
        // end
        #expect(try Data(contentsOf: file).kf.imageFormat == .JPEG)
        // guide: getting-started/target
        let small = try image.kf.data(format: .JPEG, target: .bytes(20_000))
        print(small.data.count, "bytes of quality", small.quality, "and similarity", small.ssim)
        // end
        #expect(small.data.count <= 20_000)
    }

    @Test func aManagerOfOnesOwnHasItsFolderAndOptions() async throws {
        let directory = fixture.folder.url
        // guide: getting-started/manager
        let cache = try ImageCache(name: "thumbnails", cacheDirectoryURL: directory)
        let downloader = ImageDownloader(name: "thumbnails")
        let manager = KingfisherManager(downloader: downloader, cache: cache)
        manager.defaultOptions = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 16, height: 16)))
        ]
        // end
        let result = try await manager.retrieveImage(with: url)
        #expect(result.image.pixelSize == PixelSize(width: 16, height: 12))
        #expect(manager.cache.diskStorage.directoryURL.path.hasPrefix(directory.path))
    }

    @Test func aMissingImageIsNone() async throws {
        func load(_ url: URL) async throws -> Image? {
            // guide: getting-started/errors
            do {
                return try await manager.retrieveImage(with: url).image
            } catch let error as KingfisherError where error.isInvalidResponseStatusCode(404) {
                return nil
            }
            // end
        }
        #expect(try await load(url) != nil)
        #expect(try await load(missing) == nil)
    }

    @Test func callbacksAreCalled() async {
        let (shown, reported) = (Recorder<Image>(), Recorder<KingfisherError>())
        let show: @Sendable (Image) -> Void = { shown.record($0) }
        let report: @Sendable (KingfisherError) -> Void = { reported.record($0) }
        for url in [url, missing] {
            // guide: getting-started/callback
            let task = manager.retrieveImage(with: url) { result in
                switch result {
                case .success(let value): show(value.image)
                case .failure(let error): report(error)
                }
            }
            // end
            #expect(task != nil)
        }
        #expect(await shown.waitFor(count: 1)[0].pixelSize.width == 64)
        #expect(await reported.waitFor(count: 1)[0].isInvalidResponseStatusCode(404))
    }

    @Test func filesAndBytesAreSources() async throws {
        let file = try fixture.folder.write(fixture.png, to: "photo.png")
        // guide: getting-started/sources
        let fromFile = try await manager.retrieveImage(with: file)
        let provider = RawImageDataProvider(data: bytes, cacheKey: "upload-17")
        let fromMemory = try await manager.retrieveImage(with: .provider(provider))
        // end
        #expect([fromFile, fromMemory].map(\.image.pixelSize.width) == [64, 64])
        #expect(fixture.origin.requestCount == 0)
    }

    // MARK: Caching

    @Test func aKeyIsUsedInPlaceOfTheAddress() async throws {
        // guide: caching/key
        let resource = KF.ImageResource(downloadURL: url, cacheKey: "avatar-42")
        let image = try await manager.retrieveImage(with: resource).image
        // end
        #expect(image.pixelSize.width == 64)
        #expect(cache.isCached(forKey: "avatar-42") && !cache.isCached(forKey: url.cacheKey))
    }

    @Test func theProcessorBelongsToTheKey() async throws {
        func look() -> (CacheType, URL?) {
            // guide: caching/look
            let processor = BlurImageProcessor(blurRadius: 4)
            let place = cache.imageCachedType(
                forKey: url.cacheKey, processorIdentifier: processor.identifier)
            let file = cache.cacheFileURLIfOnDisk(
                forKey: url.cacheKey, processorIdentifier: processor.identifier)
            // end
            return (place, file)
        }
        _ = try await fixture.retrieve()
        #expect(look() == (.none, nil))
        _ = try await fixture.retrieve([.processor(BlurImageProcessor(blurRadius: 4))])
        let (place, file) = look()
        #expect(place == .memory && file != nil)
    }

    @Test func optionsChangeHowOneImageIsCached() async throws {
        // guide: caching/options
        let options: KingfisherOptionsInfo = [
            .memoryCacheExpiration(.seconds(60)),
            .diskCacheExpiration(.days(1)),
            .cacheOriginalImage,
            .cacheSerializer(FormatIndicatedCacheSerializer.webp(compressionQuality: 0.8)),
        ]
        // end
        let processor = BlurImageProcessor(blurRadius: 4)
        _ = try await fixture.retrieve(options + [.processor(processor)])
        let path = cache.cachePath(
            forKey: url.cacheKey, processorIdentifier: processor.identifier)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).kf.imageFormat == .WebP)
        #expect(cache.imageCachedType(forKey: url.cacheKey) == .disk)
    }

    @Test func imagesAreStoredAndRemovedDirectly() async throws {
        // guide: caching/direct
        try await cache.store(image, forKey: "avatar-42")
        let found = try await cache.retrieveImage(forKey: "avatar-42").image
        try await cache.removeImage(forKey: "avatar-42")
        // end
        #expect(found?.pixelSize.width == 64)
        #expect(!cache.isCached(forKey: "avatar-42"))
    }

    @Test func theCacheTellsItsSizeAndIsCleared() async throws {
        _ = try await fixture.retrieve()
        // guide: caching/clean
        await cache.cleanExpiredCache()
        let bytes = try await cache.diskStorageSize
        await cache.clearCache()
        // end
        #expect(bytes >= UInt(fixture.png.count))
        #expect(!cache.isCached(forKey: url.cacheKey))
    }

    // MARK: Processing

    @Test func aChainMakesARoundThumbnail() async throws {
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
        #expect(avatar.pixelSize == PixelSize(width: 40, height: 30))
        #expect(try avatar.bitmap()[0, 0].alpha == 0)
    }

    @Test func anImageIsProcessedWithoutAManager() async throws {
        // guide: processing/image
        let image = try Image.decoding(bytes)
            .kf.crop(to: CGSize(width: 32, height: 32), anchorOn: CGPoint(x: 0.5, y: 0))
            .kf.tinted(with: Color(red: 1, green: 0.8, blue: 0.2, alpha: 0.3))
        let rendered = try await image.rendered()
        // end
        #expect(rendered.pixelSize == PixelSize(width: 32, height: 32))
    }

    @Test func aPhotoHasHashes() async throws {
        let photo = image
        // guide: processing/glance
        let blurHash = try await photo.kf.blurHash().description
        let thumbHash = try await photo.kf.thumbHash().description
        let likeness = try await photo.kf.pHash()
        // end
        #expect(!blurHash.isEmpty && !thumbHash.isEmpty && likeness.description.count == 16)
    }

    @Test func aProcessorIsReadFromText() async throws {
        // guide: processing/text
        let processor = try ImageProcessorSpec.parse("resize:32x32:fit|>blur:3")
        let image = try await manager.retrieveImage(with: url, options: [.processor(processor)])
        // end
        #expect(image.image.pixelSize == PixelSize(width: 32, height: 24))
    }

    @Test func aProcessorOfOnesOwnMakesAPostcard() async throws {
        let image = try await fixture.retrieve([.processor(PostcardProcessor())]).image
        #expect(image.pixelSize == PixelSize(width: 48, height: 32))
        #expect(try image.bitmap()[0, 0].red > 0.99 && image.bitmap()[47, 31].green > 0.99)
    }

    // MARK: Downloading

    @Test func theDownloaderGivesImageAndBytes() async throws {
        // guide: downloading/direct
        let result = try await downloader.downloadImage(with: url)
        let (image, bytes) = (result.image, result.originalData)
        // end
        #expect(image.pixelSize.width == 64 && bytes == fixture.png)
    }

    @Test func theModifierSetsTheToken() async throws {
        let token = "secret"
        // guide: downloading/modify
        let modifier = AnyModifier { request in
            var request = request
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            return request
        }
        let result = try await manager.retrieveImage(
            with: url, options: [.requestModifier(modifier)])
        // end
        #expect(result.image.pixelSize.width == 64)
        let request = try #require(fixture.origin.requests(for: "/photo.png").first)
        #expect(request.headers["Authorization"] == "Bearer secret")
    }

    @Test func theMirrorIsAskedWhenTheSourceFails() async throws {
        let (url, mirror, pause) = (missing, fixture.url, TimeInterval(0))
        // guide: downloading/recover
        let retries = DelayRetryStrategy(maxRetryCount: 3, retryInterval: .accumulated(pause))
        let result = try await manager.retrieveImage(
            with: url,
            options: [.retryStrategy(retries), .alternativeSources([.network(mirror)])])
        // end
        #expect(fixture.origin.requestCount(for: "/missing.png") == 4)
        #expect(result.source == .network(mirror))
        #expect(result.originalSource == .network(url))
    }

    @Test func pinsAreAskedForOnHTTPSOnly() async throws {
        let pins: Set<Data> = []
        // guide: downloading/pin
        downloader.serverTrustEvaluator = .afterVerification { trust in
            trust.host != "images.example.org" || pins.contains(trust.publicKey)
        }
        // end
        #expect(downloader.serverTrustEvaluator != nil)
        _ = try await fixture.retrieve()
    }

    @Test func aCancelledTaskFails() async {
        let (manager, url) = (fixture.manager, slowURL())
        // guide: downloading/cancel
        let load = Task { try await manager.retrieveImage(with: url) }
        load.cancel()
        // end
        await #expect(throws: (any Error).self) { try await load.value }
    }

    // MARK: Prefetching

    private var prefetchOptions: KingfisherOptionsInfo {
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

    @Test func aPrefetcherLoadsWhatIsMissing() async {
        let counts = Recorder<[Int]>()
        let done: @Sendable (Int, Int, Int) -> Void = { counts.record([$0, $1, $2]) }
        let (urls, options) = ([url, missing], prefetchOptions)
        // guide: prefetching/start
        let prefetcher = ImagePrefetcher(urls: urls, options: options) {
            skipped, failed, completed in
            done(skipped.count, failed.count, completed.count)
        }
        prefetcher.maxConcurrentDownloads = 3
        prefetcher.start()
        // end
        #expect(await counts.waitFor(count: 1) == [[0, 1, 1]])
    }

    @Test func aPrefetcherTellsWhySourcesFailed() async {
        let done = Recorder<Void>()
        let prefetcher = ImagePrefetcher(urls: [missing], options: prefetchOptions) { _, _, _ in
            done.record(())
        }
        prefetcher.start()
        await done.waitFor(count: 1)
        // guide: prefetching/failures
        let reasons = prefetcher.failures.map { failure in
            "\(failure.source.cacheKey): \(failure.error.localizedDescription)"
        }
        // end
        #expect(reasons.count == 1 && reasons[0].hasPrefix(missing.absoluteString))
        #expect(reasons[0].contains("404"))
    }

    @Test func aStoppedPrefetcherHasFailed() async {
        let failures = Recorder<Int>()
        let done: @Sendable (Int) -> Void = { failures.record($0) }
        let (sources, options) = ([Source.network(slowURL())], prefetchOptions)
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
        #expect(await failures.waitFor(count: 1) == [1])
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

/// What needs an outside network, is a program's `main`, or sets values alone, is not run.
private enum OutsideSnippets {
    static func limits(_ cache: ImageCache, _ downloader: ImageDownloader) {
        // guide: caching/limits
        cache.memoryStorage.config.totalCostLimit = 64 << 20
        cache.memoryStorage.config.expiration = .seconds(600)
        cache.diskStorage.config.sizeLimit = 500 << 20
        cache.diskStorage.config.expiration = .days(30)
        // end
        // guide: downloading/limits
        downloader.downloadTimeout = 10
        downloader.maximumDownloadDuration = 120
        downloader.maximumResponseSize = 20 << 20
        downloader.maximumConnectionsPerHost = 4
        downloader.decodingLimits = DecodingLimits(maximumPixelCount: 40_000_000)
        // end
        // guide: http-caching/resume
        downloader.resumption = DownloadResumption(sizeLimit: 100 << 20, expiration: .days(7))
        // end
    }

    static func retries() -> DelayRetryStrategy {
        // guide: http-caching/retry
        let retries = DelayRetryStrategy(
            maxRetryCount: 4, retryInterval: .exponential(base: 1, limit: 30),
            maximumRetryAfter: 120)
        // end
        return retries
    }

    static func readme() async {
        // guide: README/first
        // For a picture on the web: URL(string: "https://example.org/kingfisher.jpg")!
        let picture = URL(fileURLWithPath: "../halcyon/docs/images/contact-sheet.jpg")
        let thumbnail = DownsamplingImageProcessor(size: CGSize(width: 400, height: 400))
        do {
            let result = try await KingfisherManager.shared.retrieveImage(
                with: picture, options: [.processor(thumbnail)])
            print(result.image.size, result.cacheType)
            print(try await ImageCache.default.diskStorageSize, "bytes are cached")
        } catch {
            print("\(picture.relativePath): \(error.localizedDescription)")
        }
        // end
    }

    static func first() async throws {
        // guide: getting-started/first
        let url = URL(string: "https://example.org/kingfisher.jpg")!
        let result = try await KingfisherManager.shared.retrieveImage(with: url)
        print(result.image.size, result.cacheType)
        // end
    }

    // guide: security/main, DecodingWorker/main
    static func main() async {
        DecodingWorker.runIfAsked()
        // The rest of the program.
    }
    // end
}

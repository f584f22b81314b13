import Foundation
import Halcyon
import HalcyonTestKit
import Testing

/// The code of the guides for those who move from another library, as in `GuideSnippetTests`.
@Suite struct MovingSnippetTests {
    let fixture: ManagerFixture

    init() async throws { fixture = try await ManagerFixture() }

    private var manager: KingfisherManager { fixture.manager }
    private var url: URL { fixture.url }

    // MARK: From Kingfisher

    @MainActor @Test func aBuilderLoadsIntoAView() async throws {
        let clock = ManualClock()
        let imageView = HeadlessImageView(clock: clock)
        let types = Recorder<CacheType>()
        let done: @MainActor @Sendable (CacheType) -> Void = { types.record($0) }
        let cache = try ImageCache(name: "moving", cacheDirectoryURL: fixture.folder.url)
        let lowResolution = fixture.origin.url("/low.png")
        // guide: from-kingfisher/builder
        KF.url(url)
            .setProcessor(DownsamplingImageProcessor(size: CGSize(width: 200, height: 200)))
            .targetCache(cache)
            .lowDataModeSource(.network(lowResolution))
            .loadDiskFileSynchronously()
            .cacheMemoryOnly()
            .fade(duration: 0.25)
            .onSuccess { result in done(result.cacheType) }
            .set(to: imageView)
        // end
        await clock.waitForSleepers()
        clock.advance(by: .seconds(0.25))
        #expect(await types.waitFor(count: 1) == [.none])
        #expect(imageView.image?.pixelSize == PixelSize(width: 64, height: 48))
        #expect(try await cache.diskStorageSize == 0)
    }

    @Test func aServiceHasLimitsAndFollowsTheRulesOfHTTP() async throws {
        let directory = fixture.folder.url
        // guide: from-kingfisher/server
        let cache = try ImageCache(name: "service", cacheDirectoryURL: directory)
        cache.memoryStorage.config.totalCostLimit = 256 << 20
        cache.diskStorage.config.sizeLimit = 10 << 30
        let manager = KingfisherManager(
            downloader: ImageDownloader(name: "service"), cache: cache)
        manager.defaultOptions = [.httpCaching(.on)]
        // end
        #expect(manager.cache.diskStorage.config.sizeLimit == 10 << 30)
        #expect(try await manager.retrieveImage(with: url).httpCacheUse != nil)
    }

    // MARK: From Nuke

    @Test func anAvatarIsSquareAndRound() async throws {
        // guide: from-nuke/image
        let processor =
            ResizingImageProcessor(
                referenceSize: CGSize(width: 96, height: 96), mode: .aspectFill)
            |> CroppingImageProcessor(
                size: CGSize(width: 96, height: 96), anchor: CGPoint(x: 0.5, y: 0.5))
            |> RoundCornerImageProcessor(radius: .widthFraction(0.5))
        let response = try await manager.retrieveImage(
            with: url, options: [.processor(processor), .downloadPriority(1)])
        let image = response.image
        // end
        #expect(image.pixelSize == PixelSize(width: 96, height: 96))
        #expect(try image.bitmap().hasAlpha)
    }

    @Test func bytesAreHadWithoutACache() async throws {
        let downloader = ImageDownloader.patient("bytes")
        // guide: from-nuke/data
        let data = try await downloader.downloadImage(with: url).originalData
        // end
        #expect(data == fixture.png)
    }

    @Test func theOriginalIsKeptBesideTheThumbnail() async throws {
        // guide: from-nuke/policy
        let options: KingfisherOptionsInfo = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 64, height: 64))),
            .cacheOriginalImage,
        ]
        // end
        _ = try await fixture.retrieve(options)
        #expect(fixture.cache.isCached(forKey: url.cacheKey))
    }

    // MARK: From SDWebImage

    @MainActor @Test func aViewTellsWhereItsImageCameFrom() async throws {
        let imageView = HeadlessImageView()
        let places = Recorder<String>()
        let done: @MainActor @Sendable (String) -> Void = { places.record($0) }
        let placeholder = try #require(Image(data: fixture.png))
        // Not the shared cache of the program, where it may be already.
        let url = fixture.origin.url("/\(UUID().uuidString).png")
        fixture.origin.route(url.path, .png(fixture.png))
        // guide: from-sdwebimage/view
        imageView.kf.setImage(
            with: url, placeholder: placeholder,
            options: [.retryStrategy(DelayRetryStrategy(maxRetryCount: 2))]
        ) { result in
            switch result {
            case .success(let value): done("from \(value.cacheType)")
            case .failure(let error): done(error.localizedDescription)
            }
        }
        // end
        #expect(await places.waitFor(count: 1) == ["from none"])
        try await ImageCache.default.removeImage(forKey: url.cacheKey)
    }

    @Test func aStalePictureIsShownAtOnce() async throws {
        // guide: from-sdwebimage/refresh
        var caching = HTTPCaching.on
        caching.staleWhileRevalidate = .upTo(86_400)
        let options: KingfisherOptionsInfo = [.httpCaching(caching)]
        // end
        let fixture = try await FreshnessFixture()
        fixture.serve(30, "max-age=60", tag: "\"1\"")
        #expect(try await fixture.got(options) == "30 fetched")
        fixture.pass(120)
        #expect(try await fixture.got(options) == "30 stale revalidating")
    }

    // MARK: From libgd and ImageMagick

    @Test func aThumbnailIsWrittenIntoAFile() async throws {
        let (upload, thumbnail) = (fixture.folder.file("a.png"), fixture.folder.file("b.jpg"))
        let picture = PNGFixture.data(.gradient(width: 800, height: 600))
        try picture.write(to: upload)
        // guide: from-gd-imagemagick/thumbnail
        let small = try await manager.retrieveImage(
            with: upload,
            options: [.processor(DownsamplingImageProcessor(size: CGSize(width: 400, height: 400)))]
        ).image
        try small.kf.data(format: .JPEG, options: ImageEncodingOptions(quality: 0.8))
            .write(to: thumbnail)
        // end
        let written = try Data(contentsOf: thumbnail)
        #expect(written.kf.imageFormat == .JPEG)
        #expect(Image(data: written)?.pixelSize == PixelSize(width: 400, height: 300))
    }

    @Test func anAreaIsFilled() async throws {
        // guide: from-gd-imagemagick/fill
        let size = CGSize(width: 300, height: 200)
        let options: KingfisherOptionsInfo = [
            .processor(
                ResizingImageProcessor(referenceSize: size, mode: .aspectFill)
                    |> CroppingImageProcessor(size: size)),
            .cacheSerializer(FormatIndicatedCacheSerializer.webp(compressionQuality: 0.8)),
        ]
        // end
        let result = try await fixture.retrieve(options)
        #expect(result.image.pixelSize == PixelSize(width: 300, height: 200))
    }

    @Test func filesOfStrangersHaveLimits() async throws {
        func look(_ bytes: Data) async throws -> PixelSize {
            // guide: from-gd-imagemagick/limits
            let limits = DecodingLimits(maximumPixelCount: 40_000_000)
            let picture = try Image.decoding(bytes, options: ImageCreatingOptions(limits: limits))
            let pixels = try await picture.rendered().bitmap()
            // end
            return pixels.size
        }
        #expect(try await look(fixture.png) == PixelSize(width: 64, height: 48))
        let large = #"<svg xmlns="http://www.w3.org/2000/svg" width="8000" height="6000"/>"#
        await #expect(throws: (any Error).self) { _ = try await look(Data(large.utf8)) }
    }

    @Test func shapesAreDrawnByAnSVG() async throws {
        // guide: from-gd-imagemagick/svg
        let badge = """
            <svg xmlns="http://www.w3.org/2000/svg" width="120" height="40">
              <rect width="120" height="40" rx="8" fill="#156b94"/>
              <text x="60" y="26" fill="#fff" font-size="18" text-anchor="middle">NEW</text>
            </svg>
            """
        let drawn = try await Image.decoding(Data(badge.utf8)).rendered()
        // end
        #expect(drawn.pixelSize == PixelSize(width: 120, height: 40))
        let corner = try drawn.bitmap()[0, 0]
        let inside = try drawn.bitmap()[10, 20]
        #expect(corner.alpha < 0.5 && abs(inside.blue - 0x94 / 255.0) < 0.02)
    }

    // MARK: Which option when

    @Test func aListIsReducedToItsCells() async throws {
        // guide: which-option/list
        let options: KingfisherOptionsInfo = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 120, height: 120))),
            .scaleFactor(2),
            .cacheOriginalImage,
            .transition(.fade(0.2)),
        ]
        // end
        #expect(try await fixture.retrieve(options).image.scale == 2)
    }

    @Test func aThumbnailIsStoredAsWebP() async throws {
        // guide: which-option/room
        let options: KingfisherOptionsInfo = [
            .processor(DownsamplingImageProcessor(size: CGSize(width: 48, height: 48))),
            .cacheSerializer(FormatIndicatedCacheSerializer.webp(compressionQuality: 0.8)),
            .diskCacheExpiration(.days(30)),
        ]
        // end
        _ = try await fixture.retrieve(options)
        let processor = DownsamplingImageProcessor(size: CGSize(width: 48, height: 48))
        let file = try #require(
            fixture.cache.cacheFileURLIfOnDisk(
                forKey: url.cacheKey, processorIdentifier: processor.identifier))
        #expect(try Data(contentsOf: file).kf.imageFormat == .WebP)
    }

    @Test func whatIsCancelledIsNoFailure() async throws {
        let shown = Recorder<Image>()
        let show: @Sendable (Image) -> Void = { shown.record($0) }
        let manager = fixture.manager
        @Sendable func load(_ url: URL) async throws {
            // guide: which-option/ends
            do {
                let result = try await manager.retrieveImage(
                    with: url, options: [.downloadPriority(0.9)])
                show(result.image)
            } catch let error as KingfisherError where error.isCancelled {
                // Nobody wants it any more.
            } catch is CancellationError {
                // The task was cancelled before the request had begun.
            }
            // end
        }
        try await load(url)
        #expect(shown.count == 1)
        fixture.origin.route("/slow.png", .png(fixture.png).with(.wait(.gate(Gate()))))
        let slow = fixture.origin.url("/slow.png")
        let task = Task { try await load(slow) }
        task.cancel()
        try await task.value
        #expect(shown.count == 1)
        let missing = fixture.origin.url("/missing.png")
        await #expect(throws: KingfisherError.self) { try await load(missing) }
    }

    // guide: which-option/actor
    actor Album {
        private(set) var pages: [URL: Image] = [:]

        func add(_ url: URL, by manager: KingfisherManager) async throws {
            pages[url] = try await manager.retrieveImage(with: url).image
        }
    }
    // end

    @Test func anActorKeepsImages() async throws {
        let album = Album()
        try await album.add(url, by: manager)
        #expect(await album.pages[url]?.pixelSize == PixelSize(width: 64, height: 48))
    }

    @Test func aMissingPictureIsAskedForOnceInAWhile() async throws {
        // guide: which-option/failures
        var caching = HTTPCaching.on
        caching.negative = .on(statuses: [404, 410], lifetime: 60)
        let options: KingfisherOptionsInfo = [
            .httpCaching(caching),
            .retryStrategy(
                DelayRetryStrategy(
                    maxRetryCount: 3, retryInterval: .exponential(base: 1, limit: 30))),
        ]
        // end
        let missing = fixture.origin.url("/missing.png")
        let atOnce = options + [.retryStrategy(DelayRetryStrategy(maxRetryCount: 0))]
        for _ in 0..<2 {
            let error = await kingfisherError {
                _ = try await manager.retrieveImage(with: missing, options: atOnce)
            }
            #expect(error?.isInvalidResponseStatusCode(404) == true)
        }
        #expect(fixture.origin.requestCount(for: "/missing.png") == 1)
    }

    @Test func anUploadHasLimits() async throws {
        let downloader = ImageDownloader.patient("uploads")
        // guide: which-option/uploads
        downloader.maximumResponseSize = 10 << 20
        let options: KingfisherOptionsInfo = [
            .decodingLimits(DecodingLimits(maximumPixelCount: 24_000_000)),
            .onlyLoadFirstFrame,
        ]
        // end
        #expect(downloader.maximumResponseSize == 10 << 20)
        let result = try await fixture.retrieve(options + [.downloader(downloader)])
        #expect(result.image.pixelSize.width == 64)
    }
}

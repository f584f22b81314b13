import Foundation
import FoundationNetworking
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct KFBuilderTests {
    private let view = HeadlessImageView()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    private let builder = KF.url(URL(string: "http://example.com/image.png"))

    @Test func theFactoriesMakeTheSource() throws {
        let url = URL(string: "http://example.com/image.png")!
        #expect(KF.url(url).source == .network(url))
        #expect(KF.url(url, cacheKey: "key").source?.cacheKey == "key" && KF.url(nil).source == nil)
        #expect(KF.resource(url).source == .network(url) && KF.resource(nil).source == nil)
        #expect(KF.source(.network(url)).source == .network(url))
        #expect(KF.data(Data([1]), cacheKey: "bytes").source?.cacheKey == "bytes")
        #expect(KF.data(nil, cacheKey: "bytes").source == nil)
        let file = URL(fileURLWithPath: "/tmp/a.png")
        guard case .provider = KF.url(file).source else { throw Unexpected(KF.url(file).source) }
        #expect(KF.dataProvider(LocalFileImageDataProvider(fileURL: file)).source?.url == file)
    }

    @Test func everyFlagIsSwitchedOnAndOff() {
        let setters: [(KeyPath<KingfisherParsedOptionsInfo, Bool>, (Bool) -> KF.Builder)] = [
            (\.forceRefresh, { builder.forceRefresh($0) }),
            (\.fromMemoryCacheOrRefresh, { builder.fromMemoryCacheOrRefresh($0) }),
            (\.cacheMemoryOnly, { builder.cacheMemoryOnly($0) }),
            (\.waitForCache, { builder.waitForCache($0) }),
            (\.onlyFromCache, { builder.onlyFromCache($0) }),
            (\.backgroundDecode, { builder.backgroundDecode($0) }),
            (\.cacheOriginalImage, { builder.cacheOriginalImage($0) }),
            (\.keepPositionInOriginal, { builder.keepPositionInOriginal($0) }),
            (\.loadDiskFileSynchronously, { builder.loadDiskFileSynchronously($0) }),
            (\.forceTransition, { builder.forceTransition($0) }),
            (\.keepCurrentImageWhileLoading, { builder.keepCurrentImageWhileLoading($0) }),
            (\.cancelWhenSuperseded, { builder.cancelWhenSuperseded($0) }),
            (\.onlyLoadFirstFrame, { builder.onlyLoadFirstFrame($0) }),
        ]
        func flags() -> [Bool] { setters.map { builder.options[keyPath: $0.0] } }
        #expect(flags().allSatisfy { !$0 })
        let all = builder.forceRefresh().fromMemoryCacheOrRefresh().cacheMemoryOnly()
            .waitForCache().onlyFromCache().backgroundDecode().cacheOriginalImage()
            .keepPositionInOriginal().loadDiskFileSynchronously().forceTransition()
            .keepCurrentImageWhileLoading().cancelWhenSuperseded().onlyLoadFirstFrame()
        #expect(all === builder && flags().allSatisfy { $0 })
        for (index, (_, set)) in setters.enumerated() {
            _ = set(false)
            #expect(flags().enumerated().filter { !$0.element }.map(\.offset) == [index])
            _ = set(true)
        }
    }

    @Test func everyValueIsSet() throws {
        let folder = try TemporaryDirectory()
        let target = try ImageCache(name: "target", cacheDirectoryURL: folder.url)
        let original = try ImageCache(name: "original", cacheDirectoryURL: folder.url)
        let downloader = ImageDownloader(name: "builder")
        let failed = PresentationFixture.image(width: 1)
        let alternative = Source.network(URL(string: "http://example.com/other.png")!)
        let options =
            builder
            .targetCache(target).originalCache(original).downloader(downloader)
            .callbackQueue(.untouch).processingQueue(.mainAsync).scaleFactor(2)
            .diskStoreWriteOptions(.atomic).onFailureImage(failed)
            .memoryCacheExpiration(.seconds(1)).memoryCacheAccessExtending(.none)
            .diskCacheExpiration(.days(2)).diskCacheAccessExtending(.none)
            .alternativeSources([alternative]).lowDataModeSource(alternative)
            .retry(maxCount: 4).fade(duration: 3)
            .options
        #expect(options.targetCache === target && options.originalCache === original)
        #expect(options.downloader === downloader)
        guard case .untouch = options.callbackQueue, case .mainAsync? = options.processingQueue,
            case .seconds(1)? = options.memoryCacheExpiration,
            case .none = options.memoryCacheAccessExtendingExpiration,
            case .days(2)? = options.diskCacheExpiration,
            case .none = options.diskCacheAccessExtendingExpiration,
            case .fade(3) = options.transition
        else { throw Unexpected(options) }
        #expect(options.scaleFactor == 2 && options.diskStoreWriteOptions == .atomic)
        #expect(options.onFailureImage?.map { ObjectIdentifier($0) } == ObjectIdentifier(failed))
        #expect(options.alternativeSources == [alternative])
        #expect(options.lowDataModeSource == alternative)
        #expect((options.retryStrategy as? DelayRetryStrategy)?.maxRetryCount == 4)
        #expect(builder.onFailureImage(nil).options.onFailureImage.map { $0 == nil } == true)
        #expect(builder.retry(nil).options.retryStrategy == nil)
        #expect(builder.processingQueue(nil).options.processingQueue == nil)
    }

    @Test func processorsAreSetAndAppended() {
        let size = CGSize(width: 3, height: 4)
        let steps: [any ImageProcessor] = [
            RoundCornerImageProcessor(radius: .point(1)), BlurImageProcessor(blurRadius: 2),
            OverlayImageProcessor(overlay: .red), TintImageProcessor(tint: .red),
            BlackWhiteProcessor(), CroppingImageProcessor(size: size),
            ResizingImageProcessor(referenceSize: size, mode: .aspectFit),
            DownsamplingImageProcessor(size: size),
        ]
        let identifier =
            builder.setProcessor(steps[0]).blur(radius: 2).overlay(color: .red).tint(color: .red)
            .blackWhite().cropping(size: size).resizing(referenceSize: size, mode: .aspectFit)
            .downsampling(size: size).options.processor.identifier
        #expect(identifier == steps.map(\.identifier).joined(separator: "|>"))
        #expect(builder.setProcessors(steps).options.processor.identifier == identifier)
        #expect(builder.setProcessors([]).options.processor.identifier.isEmpty)
        #expect(
            builder.downsampling(size: size).options.processor.identifier == steps[7].identifier)
        #expect(
            builder.setProcessors([]).roundCorner(radius: .point(1)).options.processor.identifier
                .hasSuffix(steps[0].identifier))
    }

    @Test func formatsAreSerialized() {
        let image = PresentationFixture.image(width: 2)
        let formats: [(ImageFormat, ImageFormat)] = [
            (.PNG, .PNG), (.JPEG, .JPEG), (.WebP, .WebP), (.unknown, .PNG), (.BMP, .PNG),
        ]
        for (format, stored) in formats {
            let data = builder.serialize(as: format).options.cacheSerializer.data(
                with: image, original: nil)
            #expect(data?.kf.imageFormat == stored)
        }
        let gradient = Image(data: PNGFixture.data(.noise(width: 64, height: 64)))!
        let sizes = [0.1, nil].map {
            builder.serialize(as: .JPEG, jpegCompressionQuality: $0).options.cacheSerializer
                .data(with: gradient, original: nil)?.count ?? 0
        }
        #expect(sizes[0] > 0 && sizes[0] < sizes[1])
    }

    @Test func closuresModifyRequestsAndImages() async throws {
        let holder = HeadlessImageHolder()
        let other = PresentationFixture.image(width: 60)
        await withCheckedContinuation { continuation in
            fixture.builder(fixture.url(width: 1))
                .requestModifier { $0.setValue("yes", forHTTPHeaderField: "X-Modified") }
                .imageModifier { $0 = other }.onSuccess { _ in continuation.resume() }
                .set(to: holder)
        }
        #expect(fixture.origin.requests[0].headers["X-Modified"] == "yes" && holder.image === other)
    }

    @Test func aClosureDecidesOnRedirects() async throws {
        fixture.origin.route("/moved", .redirect(to: "/1.png"))
        let seen = Recorder<Int>()
        let other = fixture.url(width: 5)
        await withCheckedContinuation { continuation in
            fixture.builder(fixture.origin.url("/moved"))
                .redirectHandler { payload in
                    seen.record(payload.response.statusCode)
                    var request = payload.newRequest
                    request.url = other
                    payload.completionHandler(request)
                }
                .onSuccess { _ in continuation.resume() }.set(to: view)
        }
        #expect(seen.events == [302] && view.image?.pixelSize.width == 5)
    }

    @Test func aBuilderWhichNobodyKeepsTellsOfProgressAndSuccess() async throws {
        let placeholder = PresentationFixture.image(width: 20)
        let progress = Recorder<Int64>()
        let result = await withCheckedContinuation { continuation in
            let task = fixture.builder(fixture.url(width: 3)).placeholder(placeholder)
                .onProgress { received, _ in progress.record(received) }
                .onSuccess { continuation.resume(returning: $0) }
                .set(to: view)
            #expect(task != nil && view.image === placeholder)
        }
        #expect(result.image === view.image && view.image?.pixelSize.width == 3)
        #expect(progress.count > 0)
    }

    @Test func aFailureIsToldOnce() async throws {
        let error = await withCheckedContinuation { continuation in
            fixture.builder(fixture.missing).placeholder(HeadlessLabel("x"))
                .onFailure { continuation.resume(returning: $0) }.set(to: view)
        }
        #expect(error.isInvalidResponseStatusCode(404) && view.overlays.count == 1)
    }

    @Test func buttonsAreTerminalsToo() async throws {
        let (button, toggle) = (HeadlessButton(), HeadlessToggleButton())
        let done = Recorder<Int>()
        func builder(_ width: Int) -> KF.Builder {
            fixture.builder(fixture.url(width: width)).placeholder(HeadlessLabel("not for buttons"))
                .onSuccess { done.record($0.image.pixelSize.width) }
        }
        builder(1).set(to: button, for: .normal)
        builder(2).setBackground(to: button, for: .selected)
        builder(3).set(to: toggle)
        builder(4).setAlternative(to: toggle)
        #expect(await done.waitFor(count: 4).sorted() == [1, 2, 3, 4])
        #expect(button.image(for: .normal)?.pixelSize.width == 1)
        #expect(button.backgroundImage(for: .selected)?.pixelSize.width == 2)
        #expect(toggle.image?.pixelSize.width == 3 && toggle.alternateImage?.pixelSize.width == 4)
    }
}

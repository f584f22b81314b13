import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// An article that walks through transitions, placeholders, indicators and processed formats: its code
/// does here what it says there.
@MainActor @Suite struct FeatureTourArticleTests {
    let fixture: PresentationFixture
    let clock = ManualClock()
    let imageView: HeadlessImageView
    let results = Results()
    var url: URL { fixture.url(width: 3) }

    init() async throws {
        fixture = try await PresentationFixture()
        imageView = HeadlessImageView(clock: clock)
    }

    /// What was begun last, once its transition of `seconds` is over.
    private func finish(after seconds: Double, count: Int = 1) async -> SettingResult {
        await clock.waitForSleepers()
        clock.advance(by: .seconds(seconds))
        return await results.wait(for: count)[count - 1]
    }

    private var transitions: [HeadlessEvent] {
        imageView.record.events.filter { if case .transitionBegan = $0 { true } else { false } }
    }

    // MARK: 1. Built-in transition animation when setting images

    @Test func anImageFadesIn() async {
        imageView.kf.setImage(
            with: url, options: fixture.using([.transition(.fade(1))]),
            completionHandler: results.add())
        let result = await finish(after: 1)
        #expect(imageView.image === result.value?.image)
        #expect(transitions == [.transitionBegan(seconds: 1, .transitionCrossDissolve)])
    }

    @Test func anImageFlipsInFromTheLeft() async {
        imageView.kf.setImage(
            with: url, options: fixture.using([.transition(.flipFromLeft(1))]),
            completionHandler: results.add())
        let result = await finish(after: 1)
        #expect(imageView.image === result.value?.image)
        #expect(transitions == [.transitionBegan(seconds: 1, .transitionFlipFromLeft)])
    }

    @Test func anImageFromTheCacheIsShownWithoutTransition() async {
        _ = await fixture.show(url, in: HeadlessImageView())
        let inMemory = await fixture.show(url, in: imageView, [.transition(.fade(1))])
        #expect(inMemory.value?.cacheType == .memory)
        fixture.cache.clearMemoryCache()
        let onDisk = await fixture.show(url, in: imageView, [.transition(.fade(1))])
        #expect(onDisk.value?.cacheType == .disk)
        #expect(transitions.isEmpty)
    }

    @Test func aForcedTransitionIsRunWhereverTheImageComesFrom() async {
        for number in 0..<2 {
            imageView.kf.setImage(
                with: url, options: fixture.using([.transition(.fade(1)), .forceTransition]),
                completionHandler: results.add(number))
            let result = await finish(after: 1, count: number + 1)
            #expect(result.value?.cacheType == (number == 0 ? CacheType.none : .memory))
        }
        #expect(transitions.count == 2)
    }

    // MARK: 2.1 Placeholder

    @Test func anImageIsThePlaceholderUntilTheLoadedOneFadesIn() async {
        let image = PresentationFixture.image(width: 7)

        imageView.kf.setImage(
            with: url,
            placeholder: image,
            options: fixture.using([.transition(.fade(2)), .forceTransition]),
            completionHandler: results.add())

        #expect(imageView.image === image)
        #expect(imageView.kf.placeholder as? Image === image)
        let result = await finish(after: 2)
        #expect(imageView.image === result.value?.image)
        #expect(imageView.kf.placeholder == nil)
    }

    @Test func thePlaceholderIsShownOnlyInAnEmptyViewWhenTheImageIsKept() async {
        let image = PresentationFixture.image(width: 7)
        let first = await fixture.show(
            url, in: imageView, placeholder: image, [.keepCurrentImageWhileLoading])
        #expect(imageView.record.events.first == .shows(image))
        imageView.record.removeAll()
        imageView.kf.setImage(
            with: fixture.url(width: 4), placeholder: image,
            options: fixture.using([.keepCurrentImageWhileLoading]),
            completionHandler: results.add())
        #expect(imageView.image === first.value?.image)
        #expect(await results.wait(for: 1)[0].width == 4)
        #expect(imageView.image?.pixelSize.width == 4)
        #expect(!imageView.record.events.contains(.shows(image)))
    }

    @Test func aLabelIsAPlaceholderByAnEmptyExtension() async {
        let label = ArticleLabel()
        label.text = "placeholder"

        imageView.kf.setImage(
            with: url,
            placeholder: label,
            options: fixture.using([
                .transition(.fade(2)), .forceTransition, .keepCurrentImageWhileLoading,
            ]),
            completionHandler: results.add())

        #expect(imageView.overlays.count == 1 && imageView.overlays[0].view === label)
        #expect(imageView.overlays[0].placement == OverlayPlacement(size: .full))
        _ = await finish(after: 2)
        #expect(imageView.overlays.isEmpty)
    }

    // MARK: 2.2 Indicator

    @Test func theActivityIndicatorTurnsUntilTheImageIsThere() async throws {
        imageView.kf.indicatorType = .activity
        let spinner = try #require(imageView.overlays.first?.view as? HeadlessActivityView)
        imageView.kf.setImage(
            with: url,
            options: fixture.using([
                .transition(.fade(2)), .forceTransition, .keepCurrentImageWhileLoading,
            ]),
            completionHandler: results.add())
        #expect(spinner.isAnimating && !spinner.isHidden)
        _ = await finish(after: 2)
        #expect(!spinner.isAnimating && spinner.isHidden)
    }

    @Test func theTypeOfTheIndicatorMakesTheIndicator() throws {
        #expect(imageView.kf.indicator == nil)
        imageView.kf.indicatorType = .activity
        #expect(imageView.kf.indicator?.view is HeadlessActivityView)
        imageView.kf.indicatorType = .image(imageData: PresentationFixture.png(width: 4))
        let view = try #require(imageView.kf.indicator?.view as? HeadlessImageView)
        #expect(view.image?.pixelSize.width == 4)
        let own = ArticleIndicator()
        imageView.kf.indicatorType = .custom(indicator: own)
        #expect(imageView.kf.indicator as? ArticleIndicator === own)
        imageView.kf.indicatorType = .none
        #expect(imageView.kf.indicator == nil)
    }

    @Test func aFailureEndsTheIndicatorAndLeavesThePlaceholder() async {
        let indicator = ArticleIndicator()
        imageView.kf.indicatorType = .custom(indicator: indicator)
        let image = PresentationFixture.image(width: 7)
        let result = await fixture.show(fixture.missing, in: imageView, placeholder: image)
        #expect(result.error?.isInvalidResponseStatusCode(404) == true)
        #expect(imageView.image === image && imageView.kf.placeholder != nil)
        #expect(indicator.calls == ["start", "stop"])
    }

    // MARK: 3. Extensible image processing and image format

    /// A photograph with a square's sides, as JPEG.
    private func routePhotograph() throws -> URL {
        let image = try #require(Image(data: PNGFixture.data(.gradient(width: 40, height: 40))))
        let jpeg = try #require(image.kf.jpegRepresentation(compressionQuality: 1))
        fixture.origin.route("/stitch.jpg", .ok(jpeg, contentType: "image/jpeg"))
        return fixture.origin.url("/stitch.jpg")
    }

    /// The opacity of the corner when the image is loaded, and when it is read from the disk.
    private func corners(_ options: KingfisherOptionsInfo) async throws -> [CGFloat] {
        let url = try routePhotograph()
        var corners: [CGFloat] = []
        for type in [CacheType.none, .disk] {
            let result = await fixture.show(url, in: imageView, options)
            #expect(result.value?.cacheType == type)
            corners.append(try #require(imageView.image).bitmap()[0, 0].alpha)
            fixture.cache.clearMemoryCache()
        }
        return corners
    }

    @Test func roundedCornersOfAJPEGAreFilledWhenTheyComeFromTheDisk() async throws {
        let corners = try await corners([
            .processor(RoundCornerImageProcessor(cornerRadius: 100))
        ])
        #expect(corners == [0, 1])
        let corner = try #require(imageView.image).bitmap()[0, 0]
        #expect(min(corner.red, corner.green, corner.blue) > 0.9)
    }

    @Test func roundedCornersStayTransparentWhenTheyAreStoredAsPNG() async throws {
        let corners = try await corners([
            .processor(RoundCornerImageProcessor(cornerRadius: 100)),
            .cacheSerializer(FormatIndicatedCacheSerializer.png),
        ])
        #expect(corners == [0, 0])
    }

    @Test func anythingWithAnIdentifierAndAProcessIsAProcessor() async throws {
        let processor = HalvingProcessor()
        let result = await fixture.show(
            fixture.url(width: 8), in: imageView, [.processor(processor)])
        #expect(result.width == 4)
        #expect(
            fixture.cache.isCached(
                forKey: fixture.url(width: 8).cacheKey, processorIdentifier: processor.identifier))
    }

    @Test(arguments: [ImageFormat.PNG, .JPEG, .GIF])
    func aSerializerStoresTheFormatItIsMadeFor(_ format: ImageFormat) async throws {
        _ = await fixture.show(
            url, in: imageView, [.cacheSerializer(ArticleSerializer(imageFormat: format))])
        let file = URL(fileURLWithPath: fixture.cache.cachePath(forKey: url.cacheKey))
        #expect(try Data(contentsOf: file).kf.imageFormat == format)
        fixture.cache.clearMemoryCache()
        let read = await fixture.show(
            url, in: imageView, [.cacheSerializer(ArticleSerializer(imageFormat: format))])
        #expect(read.value?.cacheType == .disk && read.width == 3)
    }
}

// MARK: The article's code

@MainActor private final class ArticleLabel: KFCrossPlatformView {
    var text = ""
    var isHidden = false
}

extension ArticleLabel: Placeholder {}

@MainActor private final class ArticleIndicator: Indicator {
    private let label = ArticleLabel()
    private(set) var calls: [String] = []

    var view: any IndicatorView { label }

    func startAnimatingView() { calls.append("start") }
    func stopAnimatingView() { calls.append("stop") }
}

private struct HalvingProcessor: ImageProcessor {
    let identifier = "article.halving"

    func process(item: ImageProcessItem, options: KingfisherParsedOptionsInfo)
        -> KFCrossPlatformImage?
    {
        switch item {
        case .image(let image):
            image.kf.resize(to: CGSize(width: image.size.width / 2, height: image.size.height))
        case .data:
            (DefaultImageProcessor.default |> self).process(item: item, options: options)
        }
    }
}

private struct ArticleSerializer: CacheSerializer {
    let imageFormat: ImageFormat
    var jpegCompressionQuality: CGFloat?

    func data(with image: KFCrossPlatformImage, original: Data?) -> Data? {
        switch imageFormat {
        case .PNG: return image.kf.pngRepresentation()
        case .JPEG:
            return image.kf.jpegRepresentation(compressionQuality: jpegCompressionQuality ?? 1.0)
        case .GIF: return image.kf.gifRepresentation()
        default: return nil
        }
    }

    func image(with data: Data, options: KingfisherParsedOptionsInfo) -> KFCrossPlatformImage? {
        DefaultCacheSerializer.default.image(with: data, options: options)
    }
}

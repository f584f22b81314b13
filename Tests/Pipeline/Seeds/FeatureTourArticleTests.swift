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

    @Test func imagesFadeAndFlipInAndAForcedTransitionIsRunForOneInMemory() async {
        imageView.kf.setImage(
            with: url, options: fixture.using([.transition(.fade(1))]),
            completionHandler: results.add(0))
        #expect(await finish(after: 1).value?.cacheType == CacheType.none)
        imageView.kf.setImage(
            with: fixture.url(width: 4), options: fixture.using([.transition(.flipFromLeft(1))]),
            completionHandler: results.add(1))
        #expect(await finish(after: 1, count: 2).width == 4)
        imageView.kf.setImage(
            with: url, options: fixture.using([.transition(.fade(1)), .forceTransition]),
            completionHandler: results.add(2))
        #expect(await finish(after: 1, count: 3).value?.cacheType == .memory)
        #expect(
            transitions == [
                .transitionBegan(seconds: 1, .transitionCrossDissolve),
                .transitionBegan(seconds: 1, .transitionFlipFromLeft),
                .transitionBegan(seconds: 1, .transitionCrossDissolve),
            ])
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

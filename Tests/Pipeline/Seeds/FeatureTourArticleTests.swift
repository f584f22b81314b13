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

    init() async throws {
        fixture = try await PresentationFixture()
        imageView = HeadlessImageView(clock: clock)
    }

    /// What each part does in detail is tested with image views.
    @Test func eachCallShowsItsImageByItsTransition() async {
        let label = ArticleLabel()
        label.text = "placeholder"
        imageView.kf.indicatorType = .activity
        let image = PresentationFixture.image(width: 7)
        let calls: [(width: Int, placeholder: (any Placeholder)?, options: KingfisherOptionsInfo)] =
            [
                (3, nil, [.transition(.fade(1))]),
                (4, nil, [.transition(.flipFromLeft(1))]),
                // In memory by now.
                (3, nil, [.transition(.fade(1)), .forceTransition]),
                (5, image, [.transition(.fade(2)), .forceTransition]),
                (
                    6, label,
                    [.transition(.fade(2)), .forceTransition, .keepCurrentImageWhileLoading]
                ),
            ]
        for (index, call) in calls.enumerated() {
            imageView.kf.setImage(
                with: fixture.url(width: call.width),
                placeholder: call.placeholder,
                options: fixture.using(call.options),
                completionHandler: results.add(index))
            await clock.waitForSleepers()
            clock.advance(by: .seconds(2))
            #expect(await results.wait(for: index + 1)[index].width == call.width)
        }
        let transitions = imageView.record.events.filter {
            if case .transitionBegan = $0 { true } else { false }
        }
        let short = HeadlessEvent.transitionBegan(seconds: 1, .transitionCrossDissolve)
        let flip = HeadlessEvent.transitionBegan(seconds: 1, .transitionFlipFromLeft)
        let long = HeadlessEvent.transitionBegan(seconds: 2, .transitionCrossDissolve)
        #expect(transitions == [short, flip, short, long, long])
    }

    /// A JPEG has no transparency: its corners are filled when they come from the disk.
    @Test(arguments: [false, true])
    func roundedCornersStayTransparentWhenTheyAreStoredAsPNG(isPNG: Bool) async throws {
        let image = try #require(Image(data: PNGFixture.data(.gradient(width: 40, height: 40))))
        let jpeg = try #require(image.kf.jpegRepresentation(compressionQuality: 1))
        fixture.origin.route("/stitch.jpg", .ok(jpeg, contentType: "image/jpeg"))
        var options: KingfisherOptionsInfo = [
            .processor(RoundCornerImageProcessor(cornerRadius: 100))
        ]
        if isPNG { options.append(.cacheSerializer(FormatIndicatedCacheSerializer.png)) }
        for type in [CacheType.none, .disk] {
            let result = await fixture.show(
                fixture.origin.url("/stitch.jpg"), in: imageView, options)
            #expect(result.value?.cacheType == type)
            let corner = try #require(imageView.image).bitmap()[0, 0]
            let isFilled = type == .disk && !isPNG
            #expect(corner.alpha == (isFilled ? 1 : 0))
            if isFilled { #expect(min(corner.red, corner.green, corner.blue) > 0.9) }
            fixture.cache.clearMemoryCache()
        }
    }

    @Test(arguments: [ImageFormat.PNG, .JPEG, .GIF])
    func aSerializerStoresTheFormatItIsMadeFor(_ format: ImageFormat) {
        let image = PresentationFixture.image(width: 3)
        let data = ArticleSerializer(imageFormat: format).data(with: image, original: nil)
        #expect(data?.kf.imageFormat == format)
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

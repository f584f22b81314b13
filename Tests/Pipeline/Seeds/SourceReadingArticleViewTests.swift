import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

/// The views of the article that reads the library's source.
@MainActor @Suite struct SourceReadingArticleViewTests {
    let fixture: PresentationFixture
    let imageView = HeadlessImageView()
    let results = Results()
    var url: URL { fixture.url(width: 8) }

    init() async throws {
        fixture = try await PresentationFixture()
    }

    // MARK: Basic use

    @Test func aViewIsSetFromAnAddress() async {
        imageView.kf.setImage(
            with: url, options: fixture.options, completionHandler: results.add())
        let result = await results.wait(for: 1)[0]
        #expect(imageView.image === result.value?.image && result.width == 8)
    }

    @Test func aPlaceholderIsShownUntilTheImageComes() async {
        let image = PresentationFixture.image(width: 2)
        imageView.kf.setImage(
            with: url, placeholder: image, options: fixture.options,
            completionHandler: results.add())
        #expect(imageView.image === image)
        #expect(await results.wait(for: 1)[0].width == 8)
        #expect(imageView.image?.pixelSize.width == 8)
    }

    @Test func theIndicatorIsSeenDuringTheLoad() async {
        imageView.kf.indicatorType = .activity
        imageView.kf.setImage(
            with: url, options: fixture.options, completionHandler: results.add())
        #expect(imageView.overlays.first?.view.isHidden == false)
        _ = await results.wait(for: 1)
        #expect(imageView.overlays.first?.view.isHidden == true)
    }

    @Test func theImageIsRoundedBeforeItIsShownAndCached() async throws {
        let processor = RoundCornerImageProcessor(cornerRadius: 20)
        imageView.kf.setImage(
            with: url, placeholder: nil, options: fixture.using([.processor(processor)]),
            completionHandler: results.add())
        _ = await results.wait(for: 1)
        let bitmap = try #require(imageView.image).bitmap()
        #expect(bitmap[0, 0].alpha < 1 && bitmap[4, 2].alpha == 1)
        #expect(
            fixture.cache.isCached(
                forKey: url.cacheKey, processorIdentifier: processor.identifier))
    }

    // MARK: 1. The wrapper

    @Test func theNamespaceOfImageViewsIsOpenToExtensions() {
        imageView.image = testImage(width: 6)
        #expect(imageView.kf.widthOnShow == 6)
    }

    // MARK: 1.2 Placeholder

    @Test func imagesAndViewsAddAndRemoveThemselves() {
        let image = testImage()
        image.add(to: imageView)
        #expect(imageView.image === image)
        image.remove(from: imageView)
        #expect(imageView.image == nil)
        let label = HeadlessLabel("…")
        label.add(to: imageView)
        #expect(imageView.overlays.count == 1 && imageView.overlays[0].view === label)
        label.remove(from: imageView)
        #expect(imageView.overlays.isEmpty)
    }

    @Test func aPlaceholderOfOnesOwnIsAddedAndRemovedOnce() async {
        let placeholder = NotedPlaceholder()
        _ = await fixture.show(url, in: imageView, placeholder: placeholder)
        #expect(placeholder.calls.events == ["add", "remove"])
    }
}

// MARK: The article's code

@MainActor extension KingfisherWrapper where Base: KFCrossPlatformImageView {
    fileprivate var widthOnShow: Int? { base.image?.pixelSize.width }
}

private struct NotedPlaceholder: Placeholder {
    let calls = Recorder<String>()

    func add(to imageView: any KFCrossPlatformImageView) {
        calls.record("add")
    }

    func remove(from imageView: any KFCrossPlatformImageView) {
        calls.record("remove")
    }
}

import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

/// An article that walks through transitions, placeholders, indicators and processed formats: what its
/// code says is what is seen on a GTK screen.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct FeatureTourArticleTests {
    private let fixture: LoadFixture
    private let ticker = ManualFrameTicker()
    private let results = Results()
    private let gate = Gate()
    private let imageView = ImageView()
    private let window: TestWindow
    private let url: URL

    init() async throws {
        fixture = try await LoadFixture()
        url = fixture.route("/picture.png", .blue, gate: gate)
        imageView.contentMode = .stretch
        imageView.frameTicker = ticker
        window = await TestWindow(imageView, width: 100, height: 100)
    }

    private var whole: Bitmap { bitmap(.solid(.blue, width: 100, height: 100)) }

    /// Lets the image come and waits until its transition begins.
    private func beginTransition() async {
        gate.open()
        await window.frames { imageView.isInTransition }
        ticker.advance(by: .zero)
    }

    // MARK: 1. Built-in transition animation when setting images

    @Test func anImageFadesIn() async {
        imageView.kf.setImage(
            with: url, options: fixture.using([.transition(.fade(1))]),
            completionHandler: results.add())
        await beginTransition()
        #expect(await window.screenshot().visiblePixelCount == 0)
        ticker.advance(by: .milliseconds(500))
        #expect(await window.screenshot().pixel(50, 50).isNear(Pixel(0, 0, 255, 128)))
        #expect(results.count == 0)
        ticker.advance(by: .milliseconds(500))
        #expect(await results.wait(for: 1)[0].1.value?.cacheType == CacheType.none)
        #expect(await window.screenshot().isEqual(to: whole))
    }

    @Test func anImageFlipsInFromTheLeft() async {
        imageView.kf.setImage(
            with: url, options: fixture.using([.transition(.flipFromLeft(1))]),
            completionHandler: results.add())
        await beginTransition()
        ticker.advance(by: .milliseconds(500))
        #expect(await window.screenshot().visiblePixelCount == 0)
        ticker.advance(by: .milliseconds(250))
        let turning = await window.screenshot()
        #expect(turning.pixel(50, 50).isNear(.blue) && turning.visiblePixelCount < 9_000)
        // The right edge is the one in front now.
        #expect(turning.pixel(4, 3).alpha == 0)
        ticker.advance(by: .milliseconds(250))
        #expect(await window.screenshot().isEqual(to: whole))
        #expect(results.count == 1)
    }

    @Test func anImageFromTheCacheIsShownWithoutTransitionUnlessItIsForced() async {
        gate.open()
        await fixture.show(url, in: imageView)
        imageView.image = nil
        let cached = await fixture.show(url, in: imageView, [.transition(.fade(1))])
        #expect(cached.value?.cacheType == .memory && !imageView.isInTransition)
        #expect(await window.screenshot().isEqual(to: whole))

        imageView.image = nil
        #expect(await window.screenshot().visiblePixelCount == 0)
        imageView.kf.setImage(
            with: url, options: fixture.using([.transition(.fade(1)), .forceTransition]),
            completionHandler: results.add())
        await beginTransition()
        ticker.advance(by: .milliseconds(500))
        #expect(await window.screenshot().pixel(50, 50).isNear(Pixel(0, 0, 255, 128)))
        ticker.advance(by: .milliseconds(500))
        #expect(await results.wait(for: 1)[0].1.value?.cacheType == .memory)
    }

    // MARK: 2.1 Placeholder

    @Test func theLoadedImageFadesInOverThePlaceholder() async {
        let image = image(.solid(.red, width: 10, height: 10))

        imageView.kf.setImage(
            with: url,
            placeholder: image,
            options: fixture.using([.transition(.fade(2)), .forceTransition]),
            completionHandler: results.add())

        #expect(await window.screenshot().pixel(50, 50) == .red)
        await beginTransition()
        #expect(await window.screenshot().pixel(50, 50) == .red)
        ticker.advance(by: .seconds(1))
        #expect(await window.screenshot().pixel(50, 50).isNear(.mean(.red, .blue)))
        ticker.advance(by: .seconds(1))
        #expect(await window.screenshot().isEqual(to: whole))
        #expect(imageView.kf.placeholder == nil && results.count == 1)
    }

    @Test func aLabelIsAPlaceholderByAnEmptyExtension() async {
        let label = Label()
        label.text = "placeholder"

        imageView.kf.setImage(
            with: url,
            placeholder: label,
            options: fixture.using([
                .transition(.fade(2)), .forceTransition, .keepCurrentImageWhileLoading,
            ]),
            completionHandler: results.add())

        await window.frames { label.isMapped }
        let text = await window.screenshot()
        // Letters in the middle, and nothing near the edges.
        #expect(text.visiblePixelCount > 50 && text.visiblePixelCount < 5_000)
        #expect(text.pixel(50, 5).alpha == 0 && text.pixel(50, 95).alpha == 0)
        await beginTransition()
        ticker.advance(by: .seconds(2))
        _ = await results.wait(for: 1)
        #expect(!label.isMapped)
        #expect(await window.screenshot().isEqual(to: whole))
    }

    // MARK: 2.2 Indicator

    @Test func theActivityIndicatorTurnsUntilTheImageIsThere() async throws {
        imageView.kf.indicatorType = .activity
        imageView.kf.setImage(
            with: url,
            options: fixture.using([
                .transition(.fade(2)), .forceTransition, .keepCurrentImageWhileLoading,
            ]),
            completionHandler: results.add())

        let spinner = try #require(imageView.kf.indicator?.view as? Spinner)
        await window.frames { spinner.isMapped }
        #expect(spinner.isAnimating)
        _ = await window.screenshot { $0.visiblePixelCount > 0 }
        await beginTransition()
        #expect(!spinner.isAnimating && !spinner.isMapped)
        ticker.advance(by: .seconds(2))
        #expect(await window.screenshot().isEqual(to: whole))
    }

    // MARK: 3. Extensible image processing and image format

    /// Shows a JPEG with round corners, then the same one from the disk; returns both screenshots.
    private func roundCorners(_ options: KingfisherOptionsInfo) async throws -> [Bitmap] {
        let photograph = image(.solid(Pixel(40, 90, 200), width: 200, height: 200))
        let jpeg = try #require(photograph.kf.jpegRepresentation(compressionQuality: 1))
        fixture.origin.route("/stitch.jpg", .ok(jpeg, contentType: "image/jpeg"))
        var shots: [Bitmap] = []
        for type in [CacheType.none, .disk] {
            let result = await fixture.show(
                fixture.origin.url("/stitch.jpg"), in: imageView, options)
            #expect(result.value?.cacheType == type)
            shots.append(await window.screenshot())
            fixture.cache.clearMemoryCache()
        }
        return shots
    }

    @Test func roundCornersOfAJPEGAreFilledWhenTheyComeFromTheDisk() async throws {
        let shots = try await roundCorners([
            .processor(RoundCornerImageProcessor(cornerRadius: 100))
        ])
        #expect(shots[0].pixel(2, 2).alpha == 0 && shots[1].pixel(2, 2).isNear(.white, within: 12))
        #expect(shots.allSatisfy { $0.pixel(50, 50).isNear(Pixel(40, 90, 200), within: 8) })
    }

    @Test func roundCornersStayTransparentWhenTheyAreStoredAsPNG() async throws {
        let shots = try await roundCorners([
            .processor(RoundCornerImageProcessor(cornerRadius: 100)),
            .cacheSerializer(FormatIndicatedCacheSerializer.png),
        ])
        // A circle of radius 50 meets the diagonal at 50 − 50 / √2 = 14.6.
        for shot in shots {
            #expect(shot.pixel(2, 2).alpha == 0 && shot.pixel(97, 97).alpha == 0)
            #expect(shot.pixel(13, 13).alpha == 0 && shot.pixel(17, 17).alpha == 255)
            #expect(shot.pixel(50, 50).isNear(Pixel(40, 90, 200), within: 8))
        }
    }
}

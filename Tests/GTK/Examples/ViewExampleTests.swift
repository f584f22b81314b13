import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonExamples
@testable import HalcyonGTK

/// An article that builds an image view for the reused cells of a grid by hand: what it wants of the view.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct PhotoGridExampleTests {
    private let fixture: ListFixture

    init() async throws { fixture = try await ListFixture(count: 60, isHeld: true) }

    private func url(_ index: Int) -> URL { fixture.origin.url("/\(index).png") }

    @Test func theSpinnerTurnsUntilTheImageIsThereOrTheFailureIsSaid() async throws {
        let view = DownloadableImageView(options: fixture.using())
        let window = await TestWindow(view, width: 160, height: 160)
        view.downloadImage(url: url(3).absoluteString)
        let spinner = try #require(view.kf.indicator?.view as? Spinner)
        #expect(spinner.isAnimating && !spinner.isHidden && view.image == nil)
        fixture.release(3)
        await window.frames { view.image != nil }
        #expect(!spinner.isAnimating && view.message == nil)
        view.downloadImage(url: fixture.missing.absoluteString)
        await window.frames { view.message != nil }
        #expect(view.message == "The image could not be loaded")
        #expect(!spinner.isAnimating && view.image == nil)
        // What is in memory is shown at once.
        view.downloadImage(url: url(3).absoluteString)
        #expect(view.image != nil && view.message == nil)
        view.downloadImage(url: "")
        await window.frames { view.message != nil }
        #expect(!spinner.isAnimating && view.image == nil)
    }

    @Test func aCancelledLoadIsNotShownAndAViewThatIsUsedAgainShowsItsLastImageOnly() async throws {
        let view = DownloadableImageView(options: fixture.using())
        let window = await TestWindow(view, width: 160, height: 160)
        view.downloadImage(url: url(8).absoluteString)
        await fixture.origin.waitForRequests(1)
        view.cancel()
        await fixture.origin.waitForAbandonedRequests(1)
        let spinner = try #require(view.kf.indicator?.view as? Spinner)
        await window.frames { !spinner.isAnimating }
        #expect(view.image == nil && view.message == nil)
        view.downloadImage(url: url(1).absoluteString)
        await fixture.origin.waitForRequests(1, path: "/1.png")
        view.downloadImage(url: url(2).absoluteString)
        await fixture.origin.waitForAbandonedRequests(2)
        fixture.releaseAll()
        await window.frames { view.image != nil }
        #expect(await window.screenshot().pixel(80, 80) == ListFixture.color(2))
        #expect(!fixture.cache.isCached(forKey: url(1).cacheKey))
    }

    @Test func cellsShowThePicturesOfTheirPlacesWhereverTheGridIs() async throws {
        fixture.releaseAll()
        let grid = PhotoGrid.grid(of: (0..<60).map(url), options: fixture.using())
        let window = await TestWindow(grid, width: 500, height: 400)
        await window.frames { grid.isComplete }
        #expect(try grid.showsImagesOfTheirPlaces && grid.firstDescription == "0.png")
        grid.scrollOffset = 1600
        await window.frames { grid.firstDescription != "0.png" && grid.isComplete }
        #expect(try grid.showsImagesOfTheirPlaces)
    }
}

extension DownloadableImageView {
    /// The text on it.
    fileprivate var message: String? {
        children.lazy.compactMap { View.of($0) as? Label }.first?.text
    }
}

/// An article that walks through transitions, placeholders, indicators, processors and serializers: its calls do
/// here what it says there.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct FeatureTourExampleTests {
    private let fixture: LoadFixture
    private let results = Results()
    private let ticker = ManualFrameTicker()

    init() async throws { fixture = try await LoadFixture() }

    @Test func eachStopShowsThePictureInItsWay() async throws {
        let olaf = image(.solid(.green, width: 4, height: 4))
        let stops = FeatureTour.stops(olaf: olaf)
        var moved: [String] = []
        for (index, stop) in stops.enumerated() {
            let gate = Gate()
            let url = fixture.route("/\(index).png", .blue, gate: gate)
            let view = stretched(ticker: ticker)
            let window = await TestWindow(view, width: 100, height: 100)
            FeatureTour.show(
                stop, of: url, in: view, options: fixture.using(), completionHandler: results.add())
            switch stop.name {
            case "An image until then": #expect(view.image === olaf)
            case "A label until then":
                #expect((view.kf.placeholder as? Label)?.text == "placeholder")
            case "An indicator": #expect((view.kf.indicator?.view as? Spinner)?.isAnimating == true)
            case "Progress": #expect(view.kf.indicator is ProgressRingIndicator)
            default: #expect(view.image == nil && view.kf.placeholder == nil)
            }
            gate.open()
            await window.frames { view.isInTransition || results.count > index }
            if view.isInTransition { moved.append(stop.name) }
            ticker.advance(by: .zero)
            ticker.advance(by: .seconds(3))
            await window.frames { results.count > index }
            #expect(try results.events[index].get().cacheType == .none)
            #expect(view.image != nil && view.kf.placeholder == nil && !view.isInTransition)
        }
        #expect(moved == stops.prefix(8).map(\.name))
    }

    @Test func onlyAForcedTransitionIsSeenWithCachedPictures() async throws {
        let url = fixture.route("/a.png", .blue)
        let view = stretched(ticker: ticker)
        let window = await TestWindow(view, width: 100, height: 100)
        await fixture.show(url, in: view)
        for (name, isSeen) in [("Fade", false), ("From caches, too", true)] {
            let stop = try #require(FeatureTour.stops(olaf: nil).first { $0.name == name })
            FeatureTour.show(stop, of: url, in: view, options: fixture.using())
            await window.nextFrame()
            #expect(view.isInTransition == isSeen)
        }
    }

    /// A JPEG has no transparency: its corners are filled when they come from the disk.
    @Test(arguments: [false, true])
    func roundedCornersStayTransparentWhenTheyAreStoredAsPNG(isPNG: Bool) async throws {
        let picture = image(.gradient(width: 40, height: 40))
        let jpeg = try #require(picture.kf.jpegRepresentation(compressionQuality: 1))
        let url = fixture.route("/stitch.jpg", jpeg)
        let stop = try #require(
            FeatureTour.stops(olaf: nil).first { $0.name.hasPrefix("Round corners") })
        let other: KingfisherOptionsInfo =
            isPNG ? [] : [.cacheSerializer(DefaultCacheSerializer.default)]
        for (index, type) in [CacheType.none, .disk].enumerated() {
            let view = ImageView()
            FeatureTour.show(
                stop, of: url, in: view, options: fixture.using(other),
                completionHandler: results.add())
            #expect(try await results.waitFor(count: index + 1)[index].get().cacheType == type)
            let corner = try #require(view.image).bitmap()[0, 0]
            let isFilled = type == .disk && !isPNG
            #expect(corner.alpha == (isFilled ? 1 : 0))
            if isFilled { #expect(min(corner.red, corner.green, corner.blue) > 0.9) }
            fixture.cache.clearMemoryCache()
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct PictureWindowExampleTests {
    @Test func aWindowShowsThePictureAtItsSizeOrWhatIsWrong() async throws {
        let fixture = try await LoadFixture()
        let url = fixture.route("/bird.png", .blue, width: 400, height: 400)
        let view = PictureWindow.view(of: url, options: fixture.using())
        let window = await TestWindow(view, width: 100, height: 100)
        await window.frames { view.image != nil && !view.isInTransition }
        #expect(await window.screenshot().pixel(50, 50) == .blue)
        let side = 100 * Int(view.scaleFactor)
        #expect(view.image?.pixelSize == PixelSize(width: side, height: side))
        #expect(view.accessibleDescription == "bird.png")

        let missing = PictureWindow.view(of: fixture.missing, options: fixture.using())
        let other = await TestWindow(missing, width: 100, height: 100)
        await other.frames { missing.children.contains { View.of($0) is Label } }
        #expect(missing.image == nil)
    }
}

import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

/// The views of an article that replaces the library by a loader made by hand.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct HandMadeLoaderArticleTests {
    /// The article's description; what it calls `cacheSerializer` is the setter `serialize(by:)`.
    private func photograph(_ imageURL: URL, _ fixture: LoadFixture) -> KFImage {
        KFImage(imageURL)
            .setProcessor(DefaultImageProcessor.default)
            .serialize(by: FormatIndicatedCacheSerializer.jpeg(compressionQuality: 0.7))
            .targetCache(fixture.cache).downloader(fixture.downloader).waitForCache()
            .resizable()
    }

    @Test func aDescriptionBecomesAViewAndATransparentImageLosesThatOnTheDisk() async throws {
        let fixture = try await LoadFixture()
        let grid = PixelGrid(width: 20, height: 20) { x, _ in x < 10 ? .clear : .red }
        let url = fixture.route("/sticker.png", PNGFixture.data(grid))
        let view = photograph(url, fixture).makeView()
        let window = await TestWindow(view, width: 40, height: 40)
        await window.frames { view.isLoaded }
        let fresh = await window.screenshot()
        #expect(fresh.pixel(5, 20).alpha == 0 && fresh.pixel(35, 20) == .red)

        fixture.cache.clearMemoryCache()
        let again = photograph(url, fixture).makeView()
        let second = await TestWindow(again, width: 40, height: 40)
        await second.frames { again.isLoaded }
        #expect(await second.screenshot().pixel(5, 20).alpha == 255)
    }

    /// The article's enumeration of what a view shows, and its view.
    @Test func theFourCutIsShownWhenAllItsPhotosAreThere() async throws {
        let fixture = try await LoadFixture()
        let gate = Gate()
        let colors: [Pixel] = [.red, .green, .blue, .white]
        let photos = colors.enumerated().map { index, color in
            fixture.route(
                "/\(index).png", color, width: 64, height: 64, gate: index == 3 ? gate : nil)
        }
        let frame = fixture.route("/frame.png", .black, width: 87, height: 100)
        let manager = KingfisherManager(downloader: fixture.downloader, cache: fixture.cache)
        let view = ImageView()
        let window = await TestWindow(view, width: 87, height: 100)
        let size = CGSize(width: 87, height: 100)
        let loading = Task {
            view.image = try await manager.retrieveComposition(
                .fourCut(size: size), photos: photos.map { .network($0) }, frame: .network(frame))
        }
        await fixture.origin.waitForRequests(5)
        // Nothing of an incomplete picture is seen.
        #expect(await window.screenshot().visiblePixelCount == 0)
        gate.open()
        try await loading.value
        await window.frames { view.picture != nil }
        let shot = await window.screenshot()
        #expect(shot.pixel(43, 1) == .black && shot.pixel(43, 97) == .black)
        let places = [(22, 25), (64, 25), (22, 65), (64, 65)]
        for (place, color) in zip(places, colors) {
            #expect(shot.pixel(place.0, place.1).isNear(color))
        }
    }
}

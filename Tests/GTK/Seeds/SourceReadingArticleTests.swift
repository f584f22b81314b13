import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

/// An article that reads the library's source, and begins with its ordinary use.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct SourceReadingArticleTests {
    private let fixture: LoadFixture
    private let gate = Gate()
    private let imageView = ImageView()
    private let window: TestWindow
    private let url: URL

    init() async throws {
        fixture = try await LoadFixture()
        url = fixture.route("/picture.png", .blue, width: 100, height: 100, gate: gate)
        imageView.contentMode = .stretch
        window = await TestWindow(imageView, width: 100, height: 100)
    }

    private func finish() async -> Bitmap {
        gate.open()
        await window.frames { imageView.kf.taskIdentifier == nil }
        return await window.screenshot()
    }

    @Test func anAddressIsAllThatIsNeeded() async {
        imageView.kf.setImage(with: url, options: fixture.using())
        #expect(await window.screenshot().visiblePixelCount == 0)
        #expect(await finish().isEqual(to: bitmap(.solid(.blue, width: 100, height: 100))))
    }

    @Test func aPictureIsShownMeanwhile() async {
        let image = image(.quadrants(width: 10, height: 10))
        imageView.kf.setImage(with: url, placeholder: image, options: fixture.using())
        let meanwhile = await window.screenshot()
        #expect(meanwhile.pixel(20, 20) == .red && meanwhile.pixel(80, 80) == .white)
        #expect(await finish().pixel(20, 20) == .blue)
    }

    @Test func anIndicatorIsShownMeanwhile() async throws {
        imageView.kf.indicatorType = .activity
        imageView.kf.setImage(with: url, options: fixture.using())
        let spinner = try #require(imageView.kf.indicator?.view as? Spinner)
        await window.frames { spinner.isMapped }
        #expect(await finish().isEqual(to: bitmap(.solid(.blue, width: 100, height: 100))))
        #expect(!spinner.isMapped)
    }

    @Test func cornersAreRoundedBeforeTheImageIsShown() async {
        let processor = RoundCornerImageProcessor(cornerRadius: 20)
        imageView.kf.setImage(
            with: url, placeholder: nil, options: fixture.using([.processor(processor)]))
        let shot = await finish()
        // The arc meets the diagonal at 20 − 20 / √2 = 5.9.
        #expect(shot.pixel(0, 0).alpha == 0 && shot.pixel(4, 4).alpha == 0)
        #expect(shot.pixel(7, 7) == .blue && shot.pixel(50, 0) == .blue)
    }
}

import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

/// An article that builds an image view for the reused cells of a list: a spinner while it loads, a text
/// when that fails, and never the image of an earlier cell.
@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ReusedViewArticleTests {
    private func shown(_ fixture: LoadFixture) async -> (DownloadableImageView, TestWindow) {
        let view = DownloadableImageView(options: fixture.using())
        view.contentMode = .stretch
        return (view, await TestWindow(view, width: 120, height: 80))
    }

    @Test func theSpinnerTurnsUntilTheImageIsThere() async throws {
        let fixture = try await LoadFixture()
        let gate = Gate()
        let url = fixture.route("/a.png", .blue, gate: gate)
        let (view, window) = await shown(fixture)
        view.downloadImage(url: url.absoluteString)
        await window.frames { view.loadingView?.isMapped == true }
        #expect(view.loadingView?.isAnimating == true)
        gate.open()
        await window.frames { view.image != nil }
        #expect(
            await window.screenshot().isEqual(to: bitmap(.solid(.blue, width: 120, height: 80))))
        #expect(view.loadingView?.isMapped == false)
    }

    @Test func aFailureIsSaidToTheUser() async throws {
        let fixture = try await LoadFixture()
        let (view, window) = await shown(fixture)
        view.downloadImage(url: fixture.missing.absoluteString)
        await window.frames { view.textView.isMapped }
        let text = await window.screenshot()
        #expect(text.visiblePixelCount > 50 && text.pixel(60, 2).alpha == 0)
        #expect(view.loadingView?.isMapped == false && view.image == nil)

        view.downloadImage(url: fixture.route("/a.png", .blue).absoluteString)
        await window.frames { view.image != nil }
        #expect(!view.textView.isMapped)
        #expect(await window.screenshot().pixel(60, 40) == .blue)
    }

    @Test func anAddressThatIsNoneIsAFailureAtOnce() async throws {
        let fixture = try await LoadFixture()
        let (view, window) = await shown(fixture)
        view.downloadImage(url: "")
        await window.frames { view.textView.isMapped }
        #expect(view.image == nil)
    }

    @Test func aReusedViewNeverShowsTheImageOfBefore() async throws {
        let fixture = try await LoadFixture()
        let (slow, fast) = (Gate(), Gate())
        let first = fixture.route("/first.png", .red, gate: slow)
        let second = fixture.route("/second.png", .green, gate: fast)
        let (view, window) = await shown(fixture)
        view.downloadImage(url: first.absoluteString)
        await fixture.origin.waitForRequests(1)
        view.isCancel = true
        view.downloadImage(url: second.absoluteString)
        slow.open()
        #expect(await window.screenshot().pixel(2, 2) != .red)
        fast.open()
        await window.frames { view.image != nil }
        for _ in 0..<3 { #expect(await window.screenshot().pixel(60, 40) == .green) }
        #expect(!view.textView.isMapped)
    }
}

/// The article's view, with the loading left to Halcyon.
@MainActor private final class DownloadableImageView: ImageView {
    let textView: Label
    private let options: KingfisherOptionsInfo

    var isCancel = false {
        willSet {
            if newValue { kf.cancelDownloadTask() }
        }
    }

    init(options: KingfisherOptionsInfo) {
        self.options = options
        textView = Label("The image cannot be loaded")
        textView.wraps = true
        super.init()
        kf.indicatorType = .activity
        kf.failureView = { [textView] _ in textView }
    }

    var loadingView: Spinner? { kf.indicator?.view as? Spinner }

    func downloadImage(url: String) {
        isCancel = false
        // An address that is none has no bytes.
        let source: Source =
            URL(string: url).map { .network($0) }
            ?? .provider(RawImageDataProvider(data: Data(), cacheKey: url))
        kf.setImage(with: source, options: options)
    }
}

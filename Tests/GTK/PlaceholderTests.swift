import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct FailureViewTests {
    private let results = Results()
    private let red = image(.solid(.red, width: 4, height: 4))
    private let fixture: LoadFixture

    init() async throws { fixture = try await LoadFixture() }

    private func view() async -> (ImageView, TestWindow) {
        let view = stretched()
        return (view, await TestWindow(view, width: 60, height: 60))
    }

    @Test func theFailureViewIsSeenUntilTheNextLoad() async throws {
        let (view, window) = await view()
        var told: [KingfisherError] = []
        let notice = square(.green)
        view.kf.failureView = { error in
            told.append(error)
            return notice
        }
        await fixture.show(fixture.missing, in: view, placeholder: red)
        #expect(told.count == 1 && told[0].isInvalidResponseStatusCode(404))
        #expect(view.image == nil && view.kf.placeholder == nil)
        #expect(await window.screenshot().pixel(30, 30) == .green)

        let gate = Gate()
        let url = fixture.route("/a.png", .blue, gate: gate)
        view.kf.setImage(with: url, options: fixture.using(), completionHandler: results.add())
        #expect(await window.screenshot().visiblePixelCount == 0)
        gate.open()
        await results.waitFor(count: 1)
        #expect(await window.screenshot().pixel(30, 30) == .blue)
    }

    // MARK: Trying again

    @Test func aClickLoadsAgainWhatFailed() async throws {
        let png = PNGFixture.solid(.blue, width: 4, height: 4)
        fixture.origin.route("/a.png", sequence: [.status(500), .png(png)])
        let (view, window) = await view()
        let notice = square(.green)
        view.kf.failureView = { _ in notice }
        view.retriesOnClick = true
        view.kf.setImage(
            with: fixture.origin.url("/a.png"), options: fixture.using(),
            completionHandler: results.add())
        await results.waitFor(count: 1)
        #expect(await window.screenshot().pixel(30, 30) == .green)

        view.click()
        await window.frames { view.image != nil }
        #expect(await window.screenshot().pixel(30, 30) == .blue)
        #expect(results.count == 1 && fixture.origin.requestCount == 2)
        // There is nothing to try again now.
        view.click()
        #expect(view.kf.taskIdentifier == nil)
    }

    @Test func aClickDoesNothingUnlessThatIsWanted() async throws {
        let (view, _) = await view()
        await fixture.show(fixture.missing, in: view)
        view.click()
        #expect(view.kf.taskIdentifier == nil)
        view.retriesOnClick = true
        view.retriesOnClick = false
        view.click()
        #expect(view.kf.taskIdentifier == nil && view.kf.retryFailedLoad())
        #expect(view.kf.taskIdentifier != nil)
    }
}

extension View {
    /// Does what a click of the first button does.
    fileprivate func click() {
        guard let list = gtk_widget_observe_controllers(widget) else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(list)) }
        for index in 0..<g_list_model_get_n_items(list) {
            guard let item = g_list_model_get_item(list, index) else { continue }
            cgtk_emit_click(item)
            g_object_unref(item)
        }
    }
}

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct HashPlaceholderTests {
    private let gate = Gate()
    /// A BlurHash of one colour.
    private let hash = "001C={"
    private let dark = Pixel(10, 20, 30)

    @Test func animatedImagesTakeThem() async throws {
        let fixture = try await LoadFixture()
        let url = fixture.route("/a.png", .blue, gate: gate)
        func describe(_ url: URL) -> KFAnimatedImage {
            KFAnimatedImage(url).targetCache(fixture.cache).downloader(fixture.downloader)
        }
        let size = CGSize(width: 60, height: 45)
        let view = describe(url).placeholder(blurHash: hash, size: size).makeView()
        let thumb = describe(url)
            .placeholder(thumbHash: "2PoNNJpwd3d+eId3iIhzjwcHiA==").makeView()
        let window = await TestWindow(view, width: 100, height: 100)
        let other = await TestWindow(thumb, width: 100, height: 100)
        #expect(view.measure(.vertical, other: nil).natural == 45)
        #expect(await window.screenshot().pixel(50, 50).isNear(dark))
        #expect(thumb.measure(.vertical, other: nil).natural == 18)
        #expect(await other.screenshot().pixel(50, 50).alpha == 255)
        gate.open()
        await window.frames { view.isLoaded }
        await other.frames { thumb.isLoaded }
        #expect(await window.screenshot().pixel(50, 50) == .blue)
        #expect(await other.screenshot().pixel(50, 50) == .blue)
    }

    @Test func cellsOfListsShowThemUntilThePictureComes() async throws {
        let fixture = try await ListFixture(count: 3, isHeld: true)
        var configuration = ImageCellConfiguration()
        configuration.placeholder = { _ in .blurHash("001C={") }
        let list = fixture.makeList(configuration: configuration)
        let window = await TestWindow(list, width: 90, height: 300)
        await window.frames {
            list.seenCells.count == 3 && list.seenCells.allSatisfy { $0.state == .loading }
        }
        for cell in list.seenCells {
            let image = try #require(cell.cell.imageView.image)
            #expect(try image.bitmap().pixel(0, 0).isNear(dark))
        }
        fixture.releaseAll()
        await window.frames { list.isComplete }
        for cell in list.seenCells { #expect(try cell.shownIndex == cell.position) }
    }
}

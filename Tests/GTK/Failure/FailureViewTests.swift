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
        _ = await results.wait(for: 1)
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
        _ = await results.wait(for: 1)
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

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageViewIndicatorTests {
    private let view = HeadlessImageView()
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    /// Upstream: testIndicatorViewExisting
    @Test func theIndicatorsViewComesAndGoesWithItsType() {
        #expect(view.kf.indicator == nil)
        view.kf.indicatorType = .activity
        #expect(view.kf.indicator != nil)
        #expect(view.overlays.count == 1 && view.overlays[0].view.isHidden)
        #expect(view.overlays[0].placement == OverlayPlacement(size: .intrinsicSize))
        view.kf.indicatorType = .image(imageData: PresentationFixture.png(width: 3))
        #expect(view.overlays.count == 1 && view.overlays[0].view is HeadlessImageView)
        #expect(view.overlays[0].placement == OverlayPlacement(size: .full))
        view.kf.indicatorType = .image(imageData: Data("no image".utf8))
        #expect(view.kf.indicator == nil && view.overlays.isEmpty)
    }

    /// Upstream: testCustomizeStructIndicatorExisting
    @Test func anIndicatorMayBeAStruct() async throws {
        let indicator = RecordingIndicator()
        view.kf.indicatorType = .custom(indicator: indicator)
        #expect(view.kf.indicator is RecordingIndicator)
        let placement = OverlayPlacement(
            size: .size(CGSize(width: 8, height: 9)), offset: CGPoint(x: 1, y: 2))
        #expect(view.overlays.first?.view === indicator.view)
        #expect(view.overlays.first?.placement == placement)
        _ = await fixture.show(fixture.url(width: 1), in: view)
        _ = await fixture.show(fixture.missing, in: view)
        #expect(indicator.calls.events == ["start", "stop", "start", "stop"])
        view.kf.indicatorType = .none
        #expect(view.overlays.isEmpty)
    }

    /// Upstream: testActivityIndicatorViewAnimating
    @Test func theSpinnerTurnsAsLongAsAnyLoadRuns() async throws {
        let gate = fixture.hold()
        view.kf.indicatorType = .activity
        let spinner = try #require(view.overlays.first?.view as? HeadlessActivityView)
        let first = fixture.set(1, in: view, then: results.add())
        view.kf.setImage(
            with: fixture.url(width: 2), options: fixture.options,
            completionHandler: { [spinner] result in
                #expect(!spinner.isAnimating && spinner.isHidden)
                results.add(1)(result)
            })
        #expect(spinner.isAnimating && !spinner.isHidden)
        first?.cancel()
        _ = await results.wait(for: 1)
        #expect(spinner.isAnimating && !spinner.isHidden)
        gate.open()
        _ = await results.wait(for: 2)
        #expect(!spinner.isAnimating && spinner.isHidden)
    }

    /// Upstream: testCanUseImageIndicatorViewAnimating
    @Test func anImageServesAsIndicatorAsLongAsALoadRuns() async throws {
        let gate = fixture.hold()
        view.kf.indicatorType = .image(imageData: PresentationFixture.png(width: 13))
        let indicator = try #require(view.overlays.first?.view as? HeadlessImageView)
        #expect(indicator.image?.pixelSize.width == 13 && indicator.isHidden)
        async let result = fixture.show(fixture.url(width: 1), in: view)
        await fixture.origin.waitForRequests(1)
        #expect(!indicator.isHidden)
        gate.open()
        _ = await result
        #expect(indicator.isHidden)
    }

    @Test func aReplacedIndicatorIsStoppedByTheLoadThatStartedIt() async throws {
        let gate = fixture.hold()
        let (first, second) = (RecordingIndicator(), RecordingIndicator())
        view.kf.indicatorType = .custom(indicator: first)
        async let result = fixture.show(fixture.url(width: 1), in: view)
        await fixture.origin.waitForRequests(1)
        view.kf.indicatorType = .custom(indicator: second)
        gate.open()
        _ = await result
        #expect(first.calls.events == ["start", "stop"])
        #expect(second.calls.events.isEmpty)
    }
}

/// Notes what it is told.
struct RecordingIndicator: Indicator {
    let calls = Recorder<String>()
    let progress = Recorder<[Int64]>()
    private let label = HeadlessLabel("wait")

    var view: any IndicatorView { label }
    var centerOffset: CGPoint { CGPoint(x: 1, y: 2) }

    func startAnimatingView() { calls.record("start") }
    func stopAnimatingView() { calls.record("stop") }
    func showProgress(received: Int64, total: Int64) { progress.record([received, total]) }

    func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy {
        .size(CGSize(width: 8, height: 9))
    }
}

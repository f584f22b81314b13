import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon

@MainActor @Suite struct ImageViewFailureTests {
    private let view = HeadlessImageView()
    private let results = Results()
    private let fixture: PresentationFixture

    init() async throws { fixture = try await PresentationFixture() }

    @Test func theFailureViewTakesThePlaceOfThePlaceholderUntilTheNextLoad() async throws {
        let label = HeadlessLabel("failed")
        view.kf.failureView = { error in
            #expect(error.isInvalidResponseStatusCode(404))
            return label
        }
        let result = await fixture.show(
            fixture.missing, in: view, placeholder: PresentationFixture.image(width: 7))
        #expect(result.error != nil && view.image == nil && view.kf.placeholder == nil)
        #expect(view.overlays.count == 1 && view.overlays[0].view === label)
        #expect(view.overlays[0].placement == OverlayPlacement(size: .full))
        _ = await fixture.show(fixture.url(width: 3), in: view)
        #expect(view.overlays.isEmpty && view.image?.pixelSize.width == 3)
    }

    @Test func noSourceTakesTheFailureViewAwayToo() async throws {
        view.kf.failureView = { _ in HeadlessLabel() }
        _ = await fixture.show(fixture.missing, in: view)
        #expect(view.overlays.count == 1)
        _ = await fixture.show(nil, in: view)
        #expect(view.overlays.isEmpty && !view.kf.retryFailedLoad())
    }

    @Test func aKeptImageStaysBelowTheFailureView() async throws {
        view.kf.failureView = { _ in HeadlessLabel() }
        _ = await fixture.show(fixture.url(width: 3), in: view)
        _ = await fixture.show(fixture.missing, in: view, [.keepCurrentImageWhileLoading])
        #expect(view.overlays.count == 1 && view.image?.pixelSize.width == 3)
    }

    @Test func aCancelledLoadHasNotFailed() async throws {
        fixture.hold()
        view.kf.failureView = { _ in HeadlessLabel() }
        fixture.set(3, in: view, then: results.add())
        view.kf.cancelDownloadTask()
        #expect(await results.wait(for: 1)[0].error?.isCancelled == true)
        #expect(view.overlays.isEmpty && !view.kf.retryFailedLoad())
    }

    @Test func aFailedLoadIsRepeatedWithoutItsCompletion() async throws {
        let png = PresentationFixture.png(width: 3)
        fixture.origin.route("/again.png", sequence: [.status(500), .png(png)])
        #expect(!view.kf.retryFailedLoad())
        view.kf.setImage(
            with: fixture.origin.url("/again.png"),
            placeholder: PresentationFixture.image(width: 7), options: fixture.options,
            completionHandler: results.add())
        _ = await results.wait(for: 1)
        #expect(view.kf.retryFailedLoad())
        #expect(view.kf.placeholder != nil && view.kf.taskIdentifier != nil)
        let before = view.record.events.count
        await view.record.wait { $0.dropFirst(before).contains(where: \.isImage) }
        #expect(view.kf.taskIdentifier == nil)
        #expect(view.image?.pixelSize.width == 3 && results.count == 1)
        #expect(!view.kf.retryFailedLoad())
    }

    @Test func aRetryDoesNotKeepTheView() async throws {
        weak var gone: HeadlessImageView?
        do {
            let view = HeadlessImageView()
            gone = view
            _ = await fixture.show(fixture.missing, in: view)
        }
        #expect(gone == nil)
    }

    @Test func theIndicatorIsToldOfTheProgressOfTheLatestLoad() async throws {
        let gate = Gate()
        let png = PresentationFixture.png(width: 8)
        fixture.origin.route(
            "/slow.png", .png(png).with(.hold(afterBytes: png.count / 2, .gate(gate))))
        let indicator = RecordingIndicator()
        view.kf.indicatorType = .custom(indicator: indicator)
        view.kf.setImage(
            with: fixture.origin.url("/slow.png"), options: fixture.options,
            completionHandler: results.add())
        let first = await indicator.progress.waitFor(count: 1)
        #expect(first.allSatisfy { $0 == [Int64(png.count / 2), Int64(png.count)] })
        gate.open()
        _ = await results.wait(for: 1)
        #expect(indicator.progress.events.last == [Int64(png.count), Int64(png.count)])
    }
}

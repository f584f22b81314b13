import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// What views show of images that are fresh, validated or stale, and what they are told.
@MainActor @Suite struct FreshViewTests {
    private let swr = "max-age=60, stale-while-revalidate=6000"

    /// Begins to show the picture.
    private func show(
        _ fixture: FreshnessFixture, in view: HeadlessImageView, placeholder: Image? = nil,
        _ more: KingfisherOptionsInfo = []
    ) -> Results {
        let results = Results()
        view.kf.setImage(
            with: fixture.url(), placeholder: placeholder, options: fixture.options + more,
            completionHandler: results.add())
        return results
    }

    // MARK: Placeholder and indicator

    @Test func aStaleImageIsShownAtOnceWithoutPlaceholderAndIndicator() async throws {
        let fixture = try await FreshnessFixture.aged(swr)
        let gate = Gate()
        fixture.serve(4, swr, tag: "\"2\"", [.wait(.gate(gate))])
        let view = HeadlessImageView()
        view.kf.indicatorType = .activity
        let indicator = try #require(view.overlays.first?.view as? HeadlessActivityView)
        let events = Recorder<HTTPRevalidation>()
        let results = show(
            fixture, in: view, placeholder: PresentationFixture.image(width: 20),
            [.onHTTPRevalidation { events.record($0) }])
        #expect(view.image?.pixelSize.width == 3 && view.kf.placeholder == nil)
        #expect(!indicator.isAnimating && results.count == 1)
        // Nor while the server is asked.
        await fixture.origin.waitForRequests(2)
        #expect(view.image?.pixelSize.width == 3 && !indicator.isAnimating)
        gate.open()
        await events.waitFor(count: 1)
        #expect(view.image?.pixelSize.width == 4)
        #expect(results.count == 1, "the completion is called once")
    }

    @Test func aValidationThatIsWaitedForIsLoading() async throws {
        let fixture = try await FreshnessFixture.aged()
        let gate = Gate()
        fixture.serve(3, tag: "\"1\"", [.wait(.gate(gate))])
        let view = HeadlessImageView()
        view.kf.indicatorType = .activity
        let indicator = try #require(view.overlays.first?.view as? HeadlessActivityView)
        let placeholder = PresentationFixture.image(width: 20)
        let results = show(fixture, in: view, placeholder: placeholder)
        await fixture.origin.waitForRequests(2)
        #expect(view.image === placeholder && indicator.isAnimating)
        gate.open()
        #expect(await results.wait(for: 1)[0].width == 3)
        #expect(!indicator.isAnimating && view.kf.placeholder == nil)
    }

    @Test func whatIsShownStaysDuringAValidationIfItIsToBeKept() async throws {
        let fixture = try await FreshnessFixture.aged()
        let gate = Gate()
        fixture.serve(3, tag: "\"1\"", [.wait(.gate(gate))])
        let view = HeadlessImageView()
        let old = PresentationFixture.image(width: 30)
        view.image = old
        let results = show(fixture, in: view, [.keepCurrentImageWhileLoading])
        await fixture.origin.waitForRequests(2)
        #expect(view.image === old)
        gate.open()
        #expect(await results.wait(for: 1)[0].width == 3)
        #expect(view.image?.pixelSize.width == 3)
    }

    // MARK: Transitions

    @Test func aValidatedImageIsACachedOneAndANewOneIsNot() async throws {
        let fixture = try await FreshnessFixture.aged()
        let clock = ManualClock()
        let view = HeadlessImageView(clock: clock)
        func show(_ more: KingfisherOptionsInfoItem...) -> Results {
            self.show(fixture, in: view, [.transition(.fade(1))] + more)
        }
        let validated = await show().wait(for: 1)[0]
        #expect(validated.width == 3 && clock.sleeperCount == 0)
        fixture.pass(100)
        let forced = show(.forceTransition)
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await forced.wait(for: 1)[0].width == 3)
        fixture.pass(100)
        fixture.serve(4, tag: "\"2\"")
        let changed = show()
        await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(await changed.wait(for: 1)[0].width == 4)
        #expect(fixture.count == 4)
    }

    // MARK: Views that want nothing any more

    /// Shows the stale image in two views, does something with the first, and lets the server answer.
    /// - Returns: What the first one was told.
    private func events(
        after change: (inout HeadlessImageView?) -> Void, view: inout HeadlessImageView?
    ) async throws -> [String] {
        let fixture = try await FreshnessFixture.aged(swr)
        let gate = Gate()
        fixture.serve(4, swr, tag: "\"2\"", [.wait(.gate(gate))])
        let (first, second) = (Recorder<String>(), Recorder<String>())
        func listening(_ events: Recorder<String>) -> KingfisherOptionsInfo {
            [.onHTTPRevalidation { events.record("\($0)") }]
        }
        let other = HeadlessImageView()
        if let view {
            #expect(await show(fixture, in: view, listening(first)).wait(for: 1)[0].width == 3)
        }
        #expect(await show(fixture, in: other, listening(second)).wait(for: 1)[0].width == 3)
        change(&view)
        gate.open()
        // Whoever asked first is told first.
        await second.waitFor(count: 1)
        #expect(other.image?.pixelSize.width == 4)
        #expect(try await fixture.got() == "4 fresh", "the cache has the new one")
        return first.events
    }

    @Test func aCancelledViewKeepsTheStaleImageAndIsToldNothing() async throws {
        var view: HeadlessImageView? = HeadlessImageView()
        let events = try await events(
            after: { $0?.kf.cancelDownloadTask() }, view: &view)
        #expect(events.isEmpty)
        #expect(view?.image?.pixelSize.width == 3)
    }

    @Test func aViewThatHasGoneIsToldNothing() async throws {
        var view: HeadlessImageView? = HeadlessImageView()
        weak var gone: HeadlessImageView?
        gone = view
        let events = try await events(after: { $0 = nil }, view: &view)
        #expect(events.isEmpty)
        #expect(gone == nil, "the revalidation does not keep it")
    }

    @Test func aViewThatWantsTheChangeIsTold() async throws {
        var view: HeadlessImageView? = HeadlessImageView()
        let events = try await events(after: { _ in }, view: &view)
        #expect(events.count == 1 && events[0].hasPrefix("changed"))
        #expect(view?.image?.pixelSize.width == 4)
    }
}

import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// What views show of images that are fresh, validated or stale, and what they are told.
@MainActor @Suite struct FreshViewTests {
    private let swr = "max-age=60, stale-while-revalidate=6000"

    private func show(
        _ fixture: FreshnessFixture, in view: HeadlessImageView, placeholder: Image? = nil,
        path: String = "/a.png", _ more: KingfisherOptionsInfo = []
    ) -> Results {
        let results = Results()
        view.kf.setImage(
            with: fixture.url(path), placeholder: placeholder, options: fixture.options + more,
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

    @Test(arguments: [[], [.keepCurrentImageWhileLoading]] as [KingfisherOptionsInfo])
    func aValidationThatIsWaitedForIsLoading(_ options: KingfisherOptionsInfo) async throws {
        let fixture = try await FreshnessFixture.aged()
        let gate = Gate()
        fixture.serve(3, tag: "\"1\"", [.wait(.gate(gate))])
        let view = HeadlessImageView()
        view.kf.indicatorType = .activity
        let indicator = try #require(view.overlays.first?.view as? HeadlessActivityView)
        let old = PresentationFixture.image(width: 30)
        view.image = old
        let placeholder = PresentationFixture.image(width: 20)
        let results = show(fixture, in: view, placeholder: placeholder, options)
        await fixture.origin.waitForRequests(2)
        #expect(view.image === (options.isEmpty ? placeholder : old) && indicator.isAnimating)
        gate.open()
        #expect(await results.wait(for: 1)[0].width == 3)
        #expect(!indicator.isAnimating && view.kf.placeholder == nil)
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

    // MARK: What comes of the question in the background

    /// Without its tag the picture is sent whole.
    @Test(arguments: ["\"1\"", nil])
    func anUnchangedPictureIsNotDrawnAgain(_ tag: String?) async throws {
        let fixture = try await FreshnessFixture.aged(swr)
        let events = Recorder<String>()
        let view = HeadlessImageView()
        fixture.serve(3, swr, tag: tag)
        _ = await show(fixture, in: view, [.noting(events)]).wait(for: 1)
        let (shown, drawn) = (view.image, view.record.events.count)
        #expect(await events.waitFor(count: 1) == ["unchanged"])
        #expect(fixture.lastCondition == "\"1\"")
        #expect(view.image === shown && view.record.events.count == drawn)
        #expect(try await fixture.got() == "3 fresh")
    }

    @Test func aFailureLeavesWhatIsShown() async throws {
        let fixture = try await FreshnessFixture.aged(swr)
        let events = Recorder<String>()
        let view = HeadlessImageView()
        fixture.serve(3, swr, tag: "\"1\"", [.abort(.reset)])
        _ = await show(fixture, in: view, [.noting(events)]).wait(for: 1)
        #expect(await events.waitFor(count: 1) == ["failed 2003"])
        #expect(view.image?.pixelSize.width == 3)
    }

    @Test func aThousandViewsOfOneStaleImageAskOnce() async throws {
        let fixture = try await FreshnessFixture.aged(swr)
        let events = Recorder<String>()
        let gate = Gate()
        fixture.serve(4, swr, tag: "\"2\"", [.wait(.gate(gate))])
        let views = (0..<1_000).map { _ in HeadlessImageView() }
        let results = views.map { show(fixture, in: $0, [.noting(events)]) }
        // All have the stale image, and wait for what the server says.
        for result in results { #expect(await result.wait(for: 1)[0].width == 3) }
        await fixture.origin.waitForRequests(2)
        gate.open()
        #expect(await events.waitFor(count: 1_000).allSatisfy { $0 == "changed 4" })
        #expect(views.allSatisfy { $0.image?.pixelSize.width == 4 })
        #expect(fixture.count == 2)
    }

    // MARK: Views that want nothing any more

    /// What becomes of the first view before the server answers.
    enum Fate: CaseIterable, Sendable { case stays, isCancelled, isGone, showsAnother }

    @Test(arguments: Fate.allCases)
    func aViewIsToldOfTheChangeWhileItWantsThePicture(fate: Fate) async throws {
        let fixture = try await FreshnessFixture.aged(swr)
        let gate = Gate()
        fixture.serve(4, swr, tag: "\"2\"", [.wait(.gate(gate))])
        fixture.serve(5, at: "/b.png")
        let (first, second) = (Recorder<String>(), Recorder<String>())
        var view: HeadlessImageView? = HeadlessImageView()
        weak let gone = view
        let other = HeadlessImageView()
        if let view {
            #expect(await show(fixture, in: view, [.noting(first)]).wait(for: 1)[0].width == 3)
        }
        #expect(await show(fixture, in: other, [.noting(second)]).wait(for: 1)[0].width == 3)
        switch fate {
        case .stays: break
        case .isCancelled: view?.kf.cancelDownloadTask()
        case .isGone: view = nil
        case .showsAnother:
            guard let view else { break }
            #expect(await show(fixture, in: view, path: "/b.png").wait(for: 1)[0].width == 5)
        }
        gate.open()
        // Whoever asked first is told first.
        #expect(await second.waitFor(count: 1) == ["changed 4"])
        #expect(other.image?.pixelSize.width == 4)
        #expect(try await fixture.got() == "4 fresh", "the cache has the new one")
        #expect(first.events == (fate == .stays ? ["changed 4"] : []))
        let widths: [Fate: Int] = [.stays: 4, .isCancelled: 3, .showsAnother: 5]
        #expect(view?.image?.pixelSize.width == widths[fate])
        #expect((gone == nil) == (fate == .isGone), "the revalidation does not keep it")
    }
}

import Foundation
import HalcyonTestKit
import HalcyonWork
import Testing

@testable import Halcyon

/// Views that show a stale image while the server is asked.
@MainActor @Suite struct StaleViewTests {
    private let words = "max-age=60, stale-while-revalidate=6000"

    private func show(
        _ fixture: FreshnessFixture, in view: HeadlessImageView, _ events: Recorder<String>,
        path: String = "/a.png"
    ) async -> SettingResult {
        await handedOver { hand in
            view.kf.setImage(
                with: fixture.url(path), options: fixture.options + [.noting(events)]
            ) { hand($0) }
        }
    }

    @Test func theStaleImageIsShownAtOnceAndThenTheNewOne() async throws {
        let fixture = try await FreshnessFixture.aged(words)
        let events = Recorder<String>()
        let view = HeadlessImageView()
        fixture.serve(4, words, tag: "\"2\"")
        #expect(await show(fixture, in: view, events).width == 3)
        #expect(await events.waitFor(count: 1) == ["changed 4"])
        #expect(view.image?.pixelSize.width == 4)
    }

    /// Without its tag the picture is sent whole.
    @Test(arguments: ["\"1\"", nil])
    func anUnchangedPictureIsNotDrawnAgain(_ tag: String?) async throws {
        let fixture = try await FreshnessFixture.aged(words)
        let events = Recorder<String>()
        let view = HeadlessImageView()
        fixture.serve(3, words, tag: tag)
        _ = await show(fixture, in: view, events)
        let (shown, drawn) = (view.image, view.record.events.count)
        #expect(await events.waitFor(count: 1) == ["unchanged"])
        #expect(fixture.lastCondition == "\"1\"")
        #expect(view.image === shown && view.record.events.count == drawn)
        #expect(try await fixture.got() == "3 fresh")
    }

    @Test func aViewThatWasGivenSomethingElseIsLeftAlone() async throws {
        let fixture = try await FreshnessFixture.aged(words)
        let events = Recorder<String>()
        let view = HeadlessImageView()
        fixture.serve(5, at: "/b.png")
        let gate = Gate()
        fixture.serve(4, words, tag: "\"2\"", [.wait(.gate(gate))])
        _ = await show(fixture, in: view, events)
        // Who asks for the same image after the view is told after it, and on the same queue.
        let told = Recorder<HTTPRevalidation>()
        let second = try await fixture.got([
            .callbackQueue(.mainAsync), .onHTTPRevalidation { told.record($0) },
        ])
        #expect(second == "3 stale revalidating")
        #expect(await show(fixture, in: view, events, path: "/b.png").width == 5)
        gate.open()
        await told.waitFor(count: 1)
        // The new picture is cached, and nothing else happens.
        #expect(try await fixture.get().image.pixelSize.width == 4)
        #expect(view.image?.pixelSize.width == 5)
        #expect(events.events.isEmpty)
    }

    @Test func aFailureLeavesWhatIsShown() async throws {
        let fixture = try await FreshnessFixture.aged(words)
        let events = Recorder<String>()
        let view = HeadlessImageView()
        fixture.serve(3, words, tag: "\"1\"", [.abort(.reset)])
        _ = await show(fixture, in: view, events)
        #expect(await events.waitFor(count: 1) == ["failed 2003"])
        #expect(view.image?.pixelSize.width == 3)
    }

    @Test func aThousandViewsOfOneStaleImageAskOnce() async throws {
        let fixture = try await FreshnessFixture.aged(words)
        let events = Recorder<String>()
        let gate = Gate()
        fixture.serve(4, words, tag: "\"2\"", [.wait(.gate(gate))])
        let views = (0..<1_000).map { _ in HeadlessImageView() }
        let results = Results()
        for view in views {
            view.kf.setImage(
                with: fixture.origin.url("/a.png"), options: fixture.options + [.noting(events)],
                completionHandler: results.add())
        }
        // All have the stale image, and wait for what the server says.
        #expect(await results.wait(for: 1_000).allSatisfy { $0.width == 3 })
        await fixture.origin.waitForRequests(2)
        gate.open()
        #expect(await events.waitFor(count: 1_000).allSatisfy { $0 == "changed 4" })
        #expect(views.allSatisfy { $0.image?.pixelSize.width == 4 })
        #expect(fixture.count == 2)
    }
}

import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ImageViewLoadingTests {
    private typealias Result = Swift.Result<RetrieveImageResult, KingfisherError>

    private func view() -> ImageView {
        let view = ImageView()
        view.contentMode = .stretch
        return view
    }

    @Test func thePlaceholderIsSeenUntilTheImageComes() async throws {
        let gate = Gate()
        let fixture = try await LoadingFixture(pause: .gate(gate))
        let view = view()
        let window = await TestWindow(view, width: 40, height: 40)
        let results = Recorder<Result>()
        view.kf.setImage(
            with: fixture.url(1), placeholder: image(.solid(.red, width: 4, height: 4)),
            options: fixture.options()
        ) { results.record($0) }
        await fixture.origin.waitForRequests(1)
        #expect(await window.screenshot().pixel(20, 20) == .red)
        gate.open()
        #expect(try await results.waitFor(count: 1)[0].get().cacheType == .none)
        #expect(await window.screenshot().pixel(20, 20) == .green)
    }

    @Test func aLabelIsSeenOnTheViewUntilTheImageComes() async throws {
        let gate = Gate()
        let fixture = try await LoadingFixture(pause: .gate(gate))
        let view = view()
        let window = await TestWindow(view, width: 100, height: 40)
        let label = Label("\u{2588}\u{2588}\u{2588}\u{2588}")
        let results = Recorder<Result>()
        view.kf.setImage(with: fixture.url(2), placeholder: label, options: fixture.options()) {
            results.record($0)
        }
        await fixture.origin.waitForRequests(1)
        let shot = await window.screenshot()
        #expect(label.size == CGSize(width: 100, height: 40))
        // The text is in the middle and there is nothing at the edge.
        #expect(shot.pixel(50, 20).alpha > 0 && shot.pixel(1, 1).alpha == 0)
        gate.open()
        await results.waitFor(count: 1)
        #expect(!label.isMapped)
        #expect(await window.screenshot().pixel(1, 1) == .blue)
    }

    @Test func theSpinnerTurnsAsLongAsALoadRuns() async throws {
        let gate = Gate()
        let fixture = try await LoadingFixture(pause: .gate(gate))
        let view = view()
        let window = await TestWindow(view, width: 60, height: 60)
        view.kf.indicatorType = .activity
        let spinner = try #require(view.kf.indicator?.view as? Spinner)
        #expect(spinner.isHidden && !spinner.isAnimating)
        let results = Recorder<Result>()
        view.kf.setImage(with: fixture.url(0), options: fixture.options()) { results.record($0) }
        await window.nextFrame()
        #expect(spinner.isAnimating && spinner.isMapped && spinner.size.width > 0)
        #expect(spinner.size.width < 60)
        gate.open()
        await results.waitFor(count: 1)
        #expect(spinner.isHidden && !spinner.isAnimating)
    }

    @Test func aThousandRebindsNeverShowAWrongImage() async throws {
        let fixture = try await LoadingFixture(pause: .duration(.milliseconds(3)))
        let view = view()
        let window = await TestWindow(view, width: 20, height: 20)
        let results = Recorder<Result>()
        var random = SystemRandomNumberGenerator()
        for round in 1...1000 {
            let number = Int.random(in: 0..<LoadingFixture.colors.count, using: &random)
            // Every other load finds nothing in memory, so that late ones arrive in any order.
            if round.isMultiple(of: 2) { fixture.cache.clearMemoryCache() }
            view.kf.setImage(with: fixture.url(number), options: fixture.options()) {
                results.record($0)
            }
            guard round.isMultiple(of: 10) || round == 1000 else { continue }
            let seen = await window.screenshot().pixel(10, 10)
            #expect(seen.alpha == 0 || seen == LoadingFixture.colors[number], "round \(round)")
            if round == 1000 {
                await results.waitFor(count: 1000)
                #expect(await window.screenshot().pixel(10, 10) == LoadingFixture.colors[number])
            }
        }
        let shown = results.events.count { (try? $0.get()) != nil }
        #expect(shown >= 1 && results.count == 1000)
    }
}

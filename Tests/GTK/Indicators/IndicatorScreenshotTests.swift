import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct IndicatorScreenshotTests {
    private let results = Results()
    private let ticker = ManualFrameTicker()

    private let gate = Gate()
    private let view = stretched()
    private let window: TestWindow
    private let fixture: LoadFixture

    init() async throws {
        fixture = try await LoadFixture()
        window = await TestWindow(view, width: 60, height: 60)
    }

    /// Loads a blue image, which waits for the gate.
    private func load() {
        let url = fixture.route("/a.png", .blue, gate: gate)
        view.kf.setImage(with: url, options: fixture.using(), completionHandler: results.add())
    }

    /// Waits for the image; nothing but it is seen now.
    private func expectImage(_ sourceLocation: SourceLocation = #_sourceLocation) async {
        await results.waitFor(count: 1)
        let isSeen = await window.screenshot().isEqual(
            to: bitmap(.solid(.blue, width: 60, height: 60)))
        #expect(isSeen, sourceLocation: sourceLocation)
    }

    @Test func theSpinnerIsSeenWhileTheImageIsBeingLoaded() async throws {
        view.kf.indicatorType = .activity
        let spinner = try #require(view.kf.indicator?.view as? Spinner)
        #expect(!spinner.isMapped)
        load()
        await window.frames { spinner.isMapped }
        #expect(spinner.isAnimating)
        // As large as it wants to be, in the middle.
        let loading = await window.screenshot { $0.visiblePixelCount > 0 }
        #expect(loading.pixel(2, 2).alpha == 0 && loading.pixel(57, 57).alpha == 0)
        gate.open()
        await expectImage()
        #expect(!spinner.isMapped && !spinner.isAnimating)
    }

    @Test func anImageIsAnIndicatorOfItsOwnSizeAndPlays() async throws {
        view.kf.indicatorType = .image(imageData: gif([.red, .green]))
        let player = try #require(view.kf.indicator?.view as? AnimatedImageView)
        player.frameTicker = ticker
        load()
        await window.frames { player.isMapped && player.picture != nil }
        let first = await window.screenshot()
        #expect(first.pixel(30, 30) == .red && first.visiblePixelCount == 100)
        await window.frames {
            ticker.advance(by: .milliseconds(100))
            return player.animator?.currentFrameIndex == 1
        }
        #expect(await window.screenshot().pixel(30, 30) == .green)
        gate.open()
        await expectImage()
        #expect(!player.isMapped && !player.isAnimating && ticker.subscriberCount == 0)
    }

    // MARK: The progress ring

    @Test func theRingFillsAsBytesArrive() async throws {
        let png = PNGFixture.solid(.blue, width: 40, height: 40)
        let (half, rest) = (Gate(), Gate())
        fixture.origin.route(
            "/a.png",
            .png(png).with(.wait(.gate(half)), .hold(afterBytes: png.count / 2, .gate(rest))))
        let indicator = ProgressRingIndicator(diameter: 40)
        indicator.ring.color = .red
        indicator.ring.frameTicker = ticker
        view.kf.indicatorType = .custom(indicator: indicator)
        view.kf.setImage(
            with: fixture.origin.url("/a.png"), options: fixture.using(),
            completionHandler: results.add())
        await window.frames { indicator.ring.isTurning }
        #expect(indicator.ring.fraction == nil)
        // 40 × 40 in the middle of 60 × 60: the ring is 36 wide, measured at the middle of its line.
        let (top, right, bottom, left) = ((31, 12), (48, 31), (29, 48), (11, 29))
        let turning = await window.screenshot()
        #expect(turning.pixel(top.0 + 2, top.1).alpha == 255)
        #expect(turning.pixel(left.0, left.1).alpha < 100)

        half.open()
        await window.frames { indicator.ring.fraction != nil }
        let fraction = try #require(indicator.ring.fraction)
        #expect(abs(fraction - 0.5) < 0.02)
        #expect(!indicator.ring.isTurning && ticker.subscriberCount == 0)
        let filled = await window.screenshot()
        #expect(filled.pixel(right.0, right.1).isNear(.red, within: 10))
        #expect(filled.pixel(bottom.0 + 8, bottom.1 - 3).alpha == 255)
        #expect(filled.pixel(left.0, left.1).alpha < 100 && filled.pixel(30, 30).alpha == 0)

        rest.open()
        await expectImage()
        #expect(!indicator.ring.isMapped)
    }

    @Test func theRingTurnsUntilSomethingIsKnown() async {
        let ring = ProgressRing()
        ring.color = .red
        ring.frameTicker = ticker
        let window = await TestWindow(ring, width: 40, height: 40)
        #expect(ring.isTurning)
        ticker.advance(by: .zero)
        let right = await window.screenshot()
        #expect(right.pixel(33, 8).alpha > 200 && right.pixel(6, 31).alpha < 100)
        ticker.advance(by: .milliseconds(500))
        let left = await window.screenshot()
        #expect(left.pixel(33, 8).alpha < 100 && left.pixel(6, 31).alpha > 200)
        ring.isHidden = true
        #expect(!ring.isTurning && ticker.subscriberCount == 0)
    }
}

import CGtk4
import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct TransitionTests {
    private let ticker = ManualFrameTicker()
    private let ends = Recorder<Bool>()
    private let windows = Windows()

    private final class Windows {
        var all: [TestWindow] = []
    }

    /// A view that fills a window of 100 × 100, open until the test ends, with one colour or nothing.
    private func shown(_ pixel: Pixel?) async -> (ImageView, TestWindow) {
        let view = stretched(pixel.map(picture), ticker: ticker)
        let window = await TestWindow(view, width: 100, height: 100)
        windows.all.append(window)
        return (view, window)
    }

    private func picture(_ pixel: Pixel) -> Image { image(.solid(pixel, width: 10, height: 10)) }

    private func change(_ view: ImageView, by transition: ImageTransition, to image: Image?) {
        view.animate(transition) {
            view.image = image
        } completion: {
            ends.record($0)
        }
    }

    private func begin(_ transition: ImageTransition, in view: ImageView, to image: Image?) {
        change(view, by: transition, to: image)
        ticker.advance(by: .zero)
    }

    /// What is seen in the middle when some time has passed.
    private func pixel(of window: TestWindow, after milliseconds: Int) async -> Pixel {
        ticker.advance(by: .milliseconds(milliseconds))
        return await window.screenshot().pixel(50, 50)
    }

    // MARK: Fading

    @Test func aFadeGoesFromTheOldImageToTheNewOne() async {
        let (view, window) = await shown(.red)
        begin(.fade(1), in: view, to: picture(.blue))
        #expect(await window.screenshot().pixel(50, 50) == .red)
        ticker.advance(by: .milliseconds(500))
        let middle = await window.screenshot()
        #expect(middle.pixel(50, 50).isNear(.mean(.red, .blue)))
        #expect(middle.pixel(2, 97).isNear(.mean(.red, .blue)))
        #expect(view.isInTransition && ends.count == 0)
        #expect(await pixel(of: window, after: 500) == .blue)
        #expect(ends.events == [true] && !view.isInTransition && ticker.subscriberCount == 0)
    }

    @Test func aFadeIntoAnEmptyViewIsHalfTransparentInTheMiddle() async {
        let (view, window) = await shown(nil)
        begin(.fade(2), in: view, to: picture(.blue))
        #expect(await window.screenshot().visiblePixelCount == 0)
        #expect(await pixel(of: window, after: 1000).isNear(Pixel(0, 0, 255, 128)))
        #expect(await pixel(of: window, after: 1000) == .blue)
    }

    @Test func aFadeBeginsAndEndsSlowly() async {
        let (view, window) = await shown(.black)
        begin(.fade(1), in: view, to: picture(.white))
        // 0.1292 is the value of the CSS curve ease-in-out at 0.25.
        #expect(await pixel(of: window, after: 250).isNear(Pixel(gray: 33)))
    }

    @Test func aViewWithRoundCornersFadesWithinThem() async {
        let (view, window) = await shown(.red)
        view.cornerRadius = .point(30)
        _ = await window.screenshot()
        begin(.fade(1), in: view, to: picture(.blue))
        ticker.advance(by: .milliseconds(500))
        let middle = await window.screenshot()
        #expect(middle.pixel(1, 1).alpha == 0 && middle.pixel(98, 98).alpha == 0)
        #expect(middle.pixel(50, 50).isNear(.mean(.red, .blue)))
    }

    // MARK: Interruption

    @Test func anotherImageEndsTheTransitionWithoutAStaleOne() async {
        let (view, window) = await shown(.red)
        begin(.fade(1), in: view, to: picture(.blue))
        ticker.advance(by: .milliseconds(500))
        _ = await window.screenshot()
        view.image = picture(.green)
        #expect(ends.events == [false] && ticker.subscriberCount == 0)
        #expect(await window.screenshot().pixel(50, 50) == .green)
        ticker.advance(by: .seconds(1))
        #expect(ends.events == [false])
    }

    @Test func aTransitionGoesOnFromWhereAnotherOneWasInterrupted() async {
        let (view, window) = await shown(.red)
        begin(.fade(1), in: view, to: picture(.blue))
        ticker.advance(by: .milliseconds(500))
        let before = await window.screenshot()
        begin(.fade(1), in: view, to: picture(.green))
        #expect(ends.events == [false])
        #expect(await window.screenshot().isEqual(to: before))
        // Half of the half red and half blue one, and half green.
        #expect(await pixel(of: window, after: 500).isNear(Pixel(64, 128, 64), within: 4))
        #expect(await pixel(of: window, after: 500) == .green)
        #expect(ends.events == [false, true])
    }

    @Test func transitionsThatInterruptEachOtherForEverPileNothingUp() async {
        let (view, window) = await shown(.red)
        let colors: [Pixel] = [.blue, .green, .white]
        for round in 0..<50 {
            begin(.fade(1), in: view, to: picture(colors[round % 3]))
            ticker.advance(by: .milliseconds(100))
            await window.nextFrame()
        }
        #expect(ends.events == Array(repeating: false, count: 49))
        #expect(ticker.subscriberCount == 1)
        view.endAnimation()
        #expect(await window.screenshot().pixel(50, 50) == colors[49 % 3])
    }

    @Test func aTransitionBegunByTheChangesOfAnotherOneIsTheLaterOne() async {
        let (view, window) = await shown(.red)
        view.animate(.fade(1)) {
            begin(.fade(1), in: view, to: picture(.blue))
        } completion: {
            ends.record($0)
        }
        #expect(ends.events == [false] && view.isInTransition)
        ticker.advance(by: .zero)
        ticker.advance(by: .seconds(1))
        #expect(ends.events == [false, true])
        #expect(await window.screenshot().pixel(50, 50) == .blue)
    }

    @Test func leavingTheScreenEndsTheTransition() async {
        let (view, window) = await shown(.red)
        begin(.flipFromTop(1), in: view, to: picture(.blue))
        view.isHidden = true
        #expect(ends.events == [false] && ticker.subscriberCount == 0)
        view.isHidden = false
        await window.frames { view.isMapped }
        #expect(await window.screenshot().pixel(50, 50) == .blue)
    }

    @Test func aViewThatGoesEndsItsTransition() async {
        do {
            let (view, _) = await shown(.red)
            begin(.fade(1), in: view, to: picture(.blue))
            #expect(view.isInTransition)
        }
        windows.all = []
        #expect(ends.events == [false] && ticker.subscriberCount == 0)
    }

    // MARK: No movement

    @Test func aViewThatIsNotOnTheScreenChangesAtOnce() {
        let view = stretched(picture(.red), ticker: ticker)
        let blue = picture(.blue)
        change(view, by: .fade(1), to: blue)
        #expect(view.image === blue && ends.events == [true] && ticker.subscriberCount == 0)
    }

    @Test func aDesktopThatWantsNoAnimationsHasNone() async {
        let (view, _) = await shown(.red)
        let blue = picture(.blue)
        // Nobody else runs between the two.
        cgtk_enable_animations(view.widget, 0)
        change(view, by: .flipFromLeft(1), to: blue)
        cgtk_enable_animations(view.widget, 1)
        #expect(view.image === blue && ends.events == [true] && !view.isInTransition)
        #expect(ticker.subscriberCount == 0)
    }

    @Test(arguments: [0, -1, Double.nan]) func aTransitionWithoutDurationIsThereAtOnce(
        _ seconds: Double
    ) async {
        let (view, _) = await shown(.red)
        let blue = picture(.blue)
        change(view, by: .fade(seconds), to: blue)
        #expect(ends.events == [true] && view.image === blue)
    }

    // MARK: Custom transitions

    @Test func aCustomTransitionMovesThePose() async {
        let (view, window) = await shown(.red)
        view.pose = Pose(opacity: 0)
        let blue = picture(.blue)
        let transition = ImageTransition.custom(
            duration: 1, options: .curveLinear, animations: nil, completion: nil)
        view.animate(transition) {
            view.image = blue
            view.pose = Pose()
        } completion: {
            ends.record($0)
        }
        ticker.advance(by: .zero)
        #expect(await window.screenshot().visiblePixelCount == 0)
        #expect(await pixel(of: window, after: 250).isNear(Pixel(0, 0, 255, 64)))
        #expect(await pixel(of: window, after: 750) == .blue)
        #expect(ends.events == [true])
    }

    @Test func aPoseScalesTurnsAndMovesTheContent() async {
        let (view, window) = await shown(nil)
        view.image = image(.quadrants(width: 10, height: 10))
        view.pose = Pose(scale: 0.5)
        let small = await window.screenshot()
        #expect(small.pixel(23, 50).alpha == 0 && small.pixel(76, 50).alpha == 0)
        #expect(small.pixel(28, 28) == .red && small.pixel(72, 72) == .white)
        view.pose = Pose(rotation: 90)
        // Clockwise: what was at the bottom left is at the top left.
        #expect(await window.screenshot().pixel(10, 10) == .blue)
        view.pose = Pose(offset: CGPoint(x: 50, y: 0))
        let moved = await window.screenshot()
        #expect(moved.pixel(40, 10).alpha == 0 && moved.pixel(60, 10) == .red)
    }

    @Test func theClockOfTheWindowRunsATransitionToItsEnd() async {
        let view = stretched(picture(.red))
        let window = await TestWindow(view, width: 100, height: 100)
        change(view, by: .flipFromLeft(0.05), to: picture(.blue))
        #expect(await ends.waitFor(count: 1) == [true])
        #expect(await window.screenshot().pixel(50, 50) == .blue)
    }
}

@Suite struct TimingCurveTests {
    @Test func aLinearCurveKeepsItsSpeed() {
        for part in stride(from: 0.0, through: 1, by: 0.1) {
            #expect(abs(TimingCurve.linear.progress(at: part) - part) < 1e-6)
        }
    }

    /// Values of the CSS curves that browsers give.
    @Test func theCurvesAreThoseOfCSS() {
        let expected: [(TimingCurve, Double)] = [
            (.easeIn, 0.0935), (.easeOut, 0.3782), (.easeInOut, 0.1292),
        ]
        for (curve, value) in expected {
            #expect(abs(curve.progress(at: 0.25) - value) < 5e-4)
        }
        #expect(abs(TimingCurve.easeInOut.progress(at: 0.5) - 0.5) < 1e-6)
    }

    @Test func beforeTheBeginningAndAfterTheEndNothingMoves() {
        #expect(TimingCurve.easeIn.progress(at: -1) == 0 && TimingCurve.easeIn.progress(at: 2) == 1)
        #expect(TimingCurve.easeIn.progress(at: .nan) == 0)
        #expect(TimingCurve.easeIn.progress(at: .infinity) == 1)
    }

    @Test func optionsNameTheCurve() {
        #expect(TimingCurve([]) == .easeInOut)
        #expect(TimingCurve([.curveEaseIn, .curveEaseOut]) == .easeInOut)
        #expect(TimingCurve([.curveEaseIn, .transitionCrossDissolve]) == .easeIn)
        #expect(TimingCurve([.curveEaseOut]) == .easeOut)
        #expect(TimingCurve([.curveLinear, .curveEaseOut]) == .linear)
    }
}

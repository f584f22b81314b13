import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Synchronization
import Testing

@testable import Halcyon
@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct AnimatedImageViewTests {
    private let ticker = ManualFrameTicker()
    private static let colors: [Pixel] = [.red, .green, .blue]

    /// Red, green and blue, a tenth of a second each.
    private func animation(width: Int = 10, height: Int = 10) throws -> Image {
        try #require(Image(data: gif(Self.colors, width: width, height: height)))
    }

    private func view(_ image: Image?, ticker: (any FrameTicker)? = nil) -> AnimatedImageView {
        let view = AnimatedImageView()
        view.contentMode = .stretch
        view.frameTicker = ticker ?? self.ticker
        view.image = image
        return view
    }

    /// A view of the animation that plays in a window.
    private func playing() async throws -> (AnimatedImageView, TestWindow) {
        let view = view(try animation())
        return (view, await TestWindow(view, width: 30, height: 30))
    }

    /// Moves the time until the view shows frame `index`, however late it is decoded.
    private func play(
        _ view: AnimatedImageView, to index: Int, by ticker: ManualFrameTicker? = nil
    ) async {
        while !Task.isCancelled, view.animator?.currentFrameIndex != index || !isUpToDate(view) {
            (ticker ?? self.ticker).advance(by: .milliseconds(100))
            await view.animator?.waitForNextFrame()
            await nextTurn()
        }
    }

    /// Moves the time until the last run of the view is over.
    private func playToTheEnd(_ view: AnimatedImageView) async {
        while view.isAnimating, !Task.isCancelled {
            ticker.advance(by: .milliseconds(50))
            await view.animator?.waitForNextFrame()
            await nextTurn()
        }
    }

    /// Whether the view shows the frame that its animator is at.
    private func isUpToDate(_ view: AnimatedImageView) -> Bool {
        guard let frame = try? view.animator?.currentFrameImage?.bitmap() else { return false }
        return view.picture?.texture == Texture(frame)
    }

    @Test func framesAreShownOneAfterTheOther() async throws {
        let (view, window) = try await playing()
        #expect(view.isAnimating)
        for index in [0, 1, 2, 0, 1] {
            await play(view, to: index)
            #expect(await window.screenshot().pixel(15, 15) == Self.colors[index])
        }
    }

    @Test func aStillImageIsShownWithoutAnimator() async throws {
        let view = view(image(.solid(.red, width: 10, height: 10)))
        let window = await TestWindow(view, width: 30, height: 30)
        #expect(await window.screenshot().pixel(15, 15) == .red)
        #expect(view.animator == nil && !view.isAnimating && ticker.subscriberCount == 0)
    }

    @Test func aPlainImageViewShowsTheFirstFrame() async throws {
        let view = ImageView(image: try animation())
        view.contentMode = .stretch
        let window = await TestWindow(view, width: 30, height: 30)
        await window.frames { view.picture != nil }
        #expect(await window.screenshot().pixel(15, 15) == .red)
    }

    // MARK: Idleness

    @Test func aViewThatIsNotOnTheScreenIsIdle() async throws {
        let view = view(try animation())
        #expect(ticker.subscriberCount == 0 && !view.isAnimating && view.animator == nil)
        let window = await TestWindow(view, width: 30, height: 30)
        #expect(ticker.subscriberCount == 1 && view.isAnimating)
        view.isHidden = true
        #expect(ticker.subscriberCount == 0 && !view.isAnimating)
        view.isHidden = false
        await window.frames { view.isAnimating }
        #expect(ticker.subscriberCount == 1)
    }

    @Test func aHiddenViewGoesOnWhereItWas() async throws {
        let (view, window) = try await playing()
        // Once round, all frames are in memory: none is shown late from here on.
        for index in [1, 2, 0, 1] { await play(view, to: index) }
        view.isHidden = true
        ticker.advance(by: .seconds(10))
        view.isHidden = false
        await window.frames { view.isAnimating }
        // The time it was hidden does not count.
        ticker.advance(by: .milliseconds(10))
        #expect(view.animator?.currentFrameIndex == 1)
        #expect(await window.screenshot().pixel(15, 15) == .green)
    }

    @Test func theClockOfTheWindowPlays() async throws {
        let view = AnimatedImageView(image: try animation())
        let window = await TestWindow(view, width: 30, height: 30)
        await window.frames { view.animator?.currentFrameIndex == 2 }
        #expect(view.isAnimating)
    }

    // MARK: Starting and stopping

    @Test func anAnimationThatDoesNotPlayByItselfIsStarted() async throws {
        let view = view(nil)
        view.autoPlayAnimatedImage = false
        view.image = try animation()
        let window = await TestWindow(view, width: 30, height: 30)
        #expect(!view.isAnimating)
        await window.frames { view.picture != nil }
        #expect(await window.screenshot().pixel(15, 15) == .red)
        view.startAnimating()
        #expect(view.isAnimating)
        await play(view, to: 1)
        view.stopAnimating()
        #expect(!view.isAnimating && ticker.subscriberCount == 0)
        #expect(await window.screenshot().pixel(15, 15) == .green)
    }

    @Test func theDelegateIsToldOfRunsAndOfTheEnd() async throws {
        let view = view(try animation())
        let spy = Spy()
        view.repeatCount = .finite(count: 2)
        view.delegate = spy
        let window = await TestWindow(view, width: 30, height: 30)
        await playToTheEnd(view)
        #expect(spy.calls == ["loop 1", "loop 2", "end"])
        #expect(ticker.subscriberCount == 0)
        #expect(await window.screenshot().pixel(15, 15) == .blue)
        view.startAnimating()
        #expect(!view.isAnimating)
        // Another number of runs begins anew.
        view.repeatCount = .once
        #expect(view.isAnimating && view.animator?.currentFrameIndex == 0)
        await playToTheEnd(view)
        #expect(spy.calls == ["loop 1", "loop 2", "end", "loop 1", "end"])
    }

    @Test func anotherImageBeginsAnew() async throws {
        let (view, window) = try await playing()
        await play(view, to: 2)
        let first = try #require(view.animator)
        view.image = try animation()
        #expect(view.animator !== first && view.isAnimating)
        await window.frames { view.picture != nil }
        #expect(await window.screenshot().pixel(15, 15) == .red)
        view.image = image(.solid(.white, width: 4, height: 4))
        #expect(view.animator == nil && ticker.subscriberCount == 0)
        #expect(await window.screenshot().pixel(15, 15) == .white)
        view.image = nil
        #expect(await window.screenshot().visiblePixelCount == 0)
    }

    // MARK: Memory

    @Test func framesAreMadeNoLargerThanTheView() async throws {
        let image = try animation(width: 300, height: 300)
        let small = view(image)
        // By a clock of its own: the other view stays at its frame.
        let other = ManualFrameTicker()
        let full = view(image, ticker: other)
        full.needsPrescaling = false
        let windows = [
            await TestWindow(small, width: 30, height: 30),
            await TestWindow(full, width: 30, height: 30),
        ]
        await play(small, to: 1)
        await play(full, to: 1, by: other)
        #expect(small.animator?.currentFrameImage?.pixelSize == PixelSize(width: 30, height: 30))
        #expect(small.picture?.size == CGSize(width: 300, height: 300))
        #expect(full.animator?.currentFrameImage?.pixelSize == PixelSize(width: 300, height: 300))
        #expect(await windows[0].screenshot().pixel(15, 15) == .green)
    }

    @Test func framesAreDecodedAsFarAheadAsTheViewSays() async throws {
        let view = view(nil)
        view.framePreloadCount = 2
        view.image = try animation()
        let window = await TestWindow(view, width: 30, height: 30)
        #expect(view.animator?.maxFrameCount == 2)
        await window.nextFrame()
    }

    @Test func purgedFramesAreDecodedAgain() async throws {
        let (view, window) = try await playing()
        await play(view, to: 1)
        view.purgeFrames(keepCurrentFrame: false)
        #expect(view.animator?.currentFrameImage == nil)
        // What is on the screen stays there meanwhile.
        #expect(await window.screenshot().pixel(15, 15) == .green)
        await play(view, to: 2)
        #expect(await window.screenshot().pixel(15, 15) == .blue)
    }

    @Test func tenViewsOfOneImageShareItsFramesAndTextures() async throws {
        let source = CountingSource()
        let image = try #require(
            KingfisherWrapper<Image>.animatedImage(source: source, options: ImageCreatingOptions()))
        let views = (0..<10).map { _ in view(image) }
        var windows: [TestWindow] = []
        for view in views { windows.append(await TestWindow(view, width: 8, height: 8)) }
        while !Task.isCancelled, !views.allSatisfy({ $0.animator?.playedLoops ?? 0 >= 2 }) {
            ticker.advance(by: .milliseconds(100))
            await views[0].animator?.waitForNextFrame()
            await nextTurn()
        }
        // The first one for the image itself, then each once for all players.
        #expect(source.requests.sorted() == [0, 1, 2] || source.requests.sorted() == [0, 0, 1, 2])
        let pictures = views.compactMap(\.picture)
        #expect(pictures.count == 10 && Set(pictures.map(\.texture.pointer)).count == 1)
    }

    @Test func aViewThatGoesStopsItsClock() async throws {
        do {
            let view = view(try animation())
            let window = await TestWindow(view, width: 30, height: 30)
            #expect(ticker.subscriberCount == 1)
            await window.nextFrame()
        }
        #expect(ticker.subscriberCount == 0)
    }
}

/// Three frames of 8 × 8; remembers what it was asked for.
private final class CountingSource: ImageFrameSource {
    let data: Data? = nil
    let frameCount = 3
    private let asked = Mutex<[Int]>([])

    var requests: [Int] { asked.withLock { $0 } }

    func duration(at index: Int) -> TimeInterval { 0.1 }

    func frame(at index: Int, maxSize: CGSize?) -> Bitmap? {
        asked.withLock { $0.append(index) }
        return HalcyonGTKTests.bitmap(.solid([.red, .green, .blue][index], width: 8, height: 8))
    }
}

@MainActor private final class Spy: AnimatedImageViewDelegate {
    private(set) var calls: [String] = []

    func animatedImageView(_ imageView: AnimatedImageView, didPlayAnimationLoops count: UInt) {
        calls.append("loop \(count)")
    }

    func animatedImageViewDidFinishAnimating(_ imageView: AnimatedImageView) { calls.append("end") }
}

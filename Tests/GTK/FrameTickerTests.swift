import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct FrameTickerTests {
    private let view = ImageView()
    private let window: TestWindow

    init() async { window = await TestWindow(view, width: 20, height: 20) }

    @Test func theFrameClockOfTheWindowTellsGrowingTimes() async {
        let times = Recorder<Duration>()
        let subscription = view.frameTicker.onEachFrame { times.record($0) }
        let seen = await times.waitFor(count: 3)
        #expect(seen == seen.sorted() && seen[0] < seen[2])
        subscription.cancel()
        let count = times.count
        await window.nextFrame()
        await window.nextFrame()
        #expect(times.count == count)
    }

    @Test func aForgottenSubscriptionEnds() async {
        let times = Recorder<Duration>()
        _ = view.frameTicker.onEachFrame { times.record($0) }
        await window.nextFrame()
        #expect(times.count == 0)
    }

    @Test func aSubscriptionDoesNotKeepTheView() {
        let count = LiveObjects()
        var subscription: FrameSubscription?
        do {
            let view = ImageView()
            count.watch(view)
            subscription = view.frameTicker.onEachFrame { _ in }
        }
        #expect(count.alive == 0)
        subscription?.cancel()
    }

    /// A main actor that never rests must not keep the window from drawing.
    @Test func framesAreDrawnWhileTheMainActorIsBusy() async {
        let isOver = Locked(false)
        let rounds = Locked(0)
        let busy = Task { @MainActor in
            while !isOver.value {
                rounds.withLock { $0 += 1 }
                await Task.yield()
            }
        }
        for _ in 0..<3 { await window.nextFrame() }
        isOver.set(true)
        await busy.value
        #expect(rounds.value > 0)
    }
}

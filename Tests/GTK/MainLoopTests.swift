import Foundation
import HalcyonGTKTestKit
import HalcyonTestKit
import Testing

@testable import HalcyonGTK

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct MainLoopTests {
    @Test func theMainActorRunsOnTheMainThread() async {
        #expect(Thread.isMainThread)
        await Task.detached {}.value
        #expect(Thread.isMainThread)
    }

    @Test func aThousandContinuationsFromOtherThreadsEndInTheMainLoop() async {
        for number in 0..<1000 {
            let result = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: number) }
            }
            #expect(result == number && Thread.isMainThread)
        }
    }

    @Test func aTurnIsAsLongAsTheWorkInIt() async {
        MainLoopMeter.start()
        // A turn of its own, which is measured from its beginning.
        await nextTurn()
        let begin = processorTime()
        while processorTime() - begin < 0.02 {}
        await nextTurn()
        #expect(MainLoopMeter.mostProcessorTime >= .milliseconds(20))
        #expect(MainLoopMeter.longestTurn >= .milliseconds(20))
        #expect(MainLoopMeter.mostActorTime >= .milliseconds(20))
    }

    private func processorTime() -> Double {
        // The members of `timespec` belong, for Swift, to whichever module has included it first.
        var time = (seconds: 0, nanoseconds: 0)
        withUnsafeMutablePointer(to: &time) {
            $0.withMemoryRebound(to: timespec.self, capacity: 1) {
                _ = clock_gettime(CLOCK_THREAD_CPUTIME_ID, $0)
            }
        }
        return Double(time.seconds) + Double(time.nanoseconds) / 1e9
    }
}

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

@MainActor @Suite(.timeLimit(.minutes(10)), .enabled(if: TestDisplay.isAvailable))
struct ApplicationTests {
    @Test func aProgramEndsWithItsLastWindow() {
        let count = LiveObjects()
        var shown: Label?
        let application = Application { application in
            let label = Label("seen")
            let window = application.show(Window(width: 40, height: 20), content: label)
            count.watch(label)
            shown = window.content as? Label
            window.close()
        }
        #expect(application.run() == 0)
        #expect(shown?.text == "seen" && count.watched == 1)
        shown = nil
        #expect(count.alive == 0)
    }

    @Test func aProgramEndsWhenItIsToldTo() {
        var window: Window?
        let application = Application { application in
            window = application.show(Window(width: 40, height: 20))
            application.quit()
        }
        #expect(application.run() == 0)
        #expect(window != nil)
        window?.close()
    }

    @Test func aProgramWithoutAWindowEndsAtOnce() {
        var activations = 0
        let application = Application(identifier: "org.example.Test") { _ in activations += 1 }
        #expect(application.run() == 0)
        #expect(activations == 1 && Application.hasDisplay)
    }
}

import Foundation
import Testing

@testable import Halcyon

/// What the player's tests do not show; `AnimatorTests` has the rest.
struct AnimationClockworkTests {
    private func clockwork(
        _ durations: [TimeInterval], _ repeatCount: RepeatCount = .infinite
    ) -> AnimationClockwork {
        AnimationClockwork(durations: durations, repeatCount: repeatCount)
    }

    private func ready(_ index: Int) -> Bool { true }

    @Test func countsASecondAtMostPerStep() {
        var clock = clockwork([0.9, 0.9, 0.9])
        #expect(clock.advance(by: .seconds(60), isReady: ready) == [.frame(1)])
        #expect(clock.timeToNextEvent == .milliseconds(800))
        #expect(clock.advance(by: .seconds(-60), isReady: ready) == [])
        #expect(clock.timeToNextEvent == .milliseconds(800))
    }

    @Test func leavesOutFramesWhoseTimeIsOver() {
        var clock = clockwork([0.1, 0.1, 0.1, 0.1])
        #expect(clock.advance(by: .milliseconds(250), isReady: ready) == [.frame(2)])
        #expect(clock.advance(by: .milliseconds(250), isReady: ready) == [.frame(1), .loop(1)])
    }

    @Test func goesRoundOnceAtMostPerStep() {
        var clock = clockwork([0.001, 0.001, 0.001])
        #expect(clock.advance(by: .seconds(1), isReady: ready) == [.frame(0), .loop(1)])
        #expect(clock.timeToNextEvent == .milliseconds(1))
    }

    @Test func forgetsADelayBeyondASecond() {
        var clock = clockwork([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
        for _ in 0..<20 { #expect(clock.advance(by: .seconds(1)) { _ in false } == []) }
        #expect(clock.advance(by: .zero, isReady: ready) == [.frame(3)])
    }

    @Test(
        arguments: [
            (RepeatCount.once, 1), (.finite(count: 1), 1), (.finite(count: 3), 3),
            (.finite(count: 0), 1),
        ] as [(RepeatCount, UInt)])
    func finishesOneStepAfterTheLastFrameOfTheLastRun(_ repeatCount: RepeatCount, _ loops: UInt) {
        var clock = clockwork([0.1, 0.1], repeatCount)
        var events: [AnimationClockwork.Event] = []
        for _ in 0..<20 where !clock.isFinished {
            events += clock.advance(by: .milliseconds(100), isReady: ready)
        }
        #expect(events.last == .loop(loops))
        #expect(clock.index == 1)
        #expect(clock.advance(by: .zero, isReady: ready) == [.finished])
        #expect(clock.advance(by: .seconds(1), isReady: ready) == [])
        #expect(clock.index == 1)
        #expect(clock.timeToNextEvent == nil)
    }

    @Test func doesNotSkipBeyondTheEnd() {
        var clock = clockwork([0.1, 0.1, 0.1], .once)
        #expect(clock.advance(by: .seconds(1), isReady: ready) == [.frame(2), .loop(1)])
        #expect(clock.isFinished)
    }

    @Test func waitsForTheLastFrameToFinish() {
        var clock = clockwork([0.1, 0.1, 0.1], .once)
        #expect(clock.advance(by: .seconds(1)) { $0 == 1 } == [.frame(1)])
        #expect(!clock.isFinished)
        #expect(clock.advance(by: .zero, isReady: ready) == [.frame(2), .loop(1)])
    }

    @Test func staysAtAFrameThatLastsForever() {
        var clock = clockwork([0.1, .infinity, 0.1])
        #expect(clock.advance(by: .seconds(1), isReady: ready) == [.frame(1)])
        for _ in 0..<9 { #expect(clock.advance(by: .seconds(1), isReady: ready) == []) }
        #expect(clock.timeToNextEvent == nil)
    }

    @Test(arguments: [0, -1, .nan])
    func showsAFrameWithoutDurationForATenthOfASecond(_ duration: TimeInterval) {
        let clock = clockwork([duration, 0.1])
        #expect(clock.timeToNextEvent == .milliseconds(100))
    }

    @Test func comparesRepeatCountsByTheirRuns() {
        #expect(RepeatCount.once == .finite(count: 1))
        #expect(RepeatCount.once.hashValue == RepeatCount.finite(count: 1).hashValue)
        #expect(RepeatCount.infinite != .finite(count: 1) && RepeatCount(loopCount: 0) == .infinite)
        #expect(RepeatCount(loopCount: 4) == .finite(count: 4))
    }
}

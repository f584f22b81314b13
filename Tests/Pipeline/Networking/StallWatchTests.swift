import Testing

@testable import Halcyon

struct StallWatchTests {
    private let start = ContinuousClock().now

    @Test func silenceStallsAfterTheTimeout() {
        let watch = StallWatch(timeout: .seconds(15), now: start)
        #expect(watch.remaining(now: start + .seconds(5)) == .seconds(10))
        #expect(watch.remaining(now: start + .seconds(15)) == nil)
    }

    @Test func aFewBytesNowAndThenDoNotHelp() {
        var watch = StallWatch(timeout: .seconds(15), now: start)
        for second in 1..<15 { watch.receive(1000, now: start + .seconds(second)) }
        #expect(watch.remaining(now: start + .seconds(15)) == nil)
    }

    @Test func enoughBytesStartTheTimeAgain() {
        var watch = StallWatch(timeout: .seconds(15), now: start)
        watch.receive(StallWatch.quota, now: start + .seconds(14))
        #expect(watch.remaining(now: start + .seconds(20)) == .seconds(9))
        #expect(watch.remaining(now: start + .seconds(29)) == nil)
    }

    @Test func aPauseDoesNotCount() {
        var watch = StallWatch(timeout: .seconds(15), now: start)
        watch.pause()
        #expect(watch.remaining(now: start + .seconds(100)) == .seconds(15))
        watch.resume(now: start + .seconds(100))
        #expect(watch.remaining(now: start + .seconds(101)) == .seconds(14))
    }
}

import Foundation
import HalcyonTestKit
import Testing

@testable import Halcyon
@testable import HalcyonPixels

struct AnimatorTests {
    private enum Event: Equatable {
        case frame(Int)
        case loops(UInt)
        case finished
    }

    private final class Listener: AnimatorDelegate {
        let recorder = Recorder<Event>()

        func animator(_ animator: Animator, didShowFrameAt index: Int) {
            recorder.record(.frame(index))
        }

        func animator(_ animator: Animator, didPlayAnimationLoops count: UInt) {
            recorder.record(.loops(count))
        }

        func animatorDidFinishAnimating(_ animator: Animator) { recorder.record(.finished) }
    }

    private let frameTime = Duration.milliseconds(100)

    /// A player of foreign frames that are decoded when the test says so.
    private struct Held {
        let jobs = HeldJobs()
        let buffer: FrameBuffer
        let content: PixelContent

        init(_ count: Int, damaged: Set<Int> = []) throws {
            buffer = FrameBuffer(
                source: SpyFrameSource(count, damaged: damaged), bytesPerFrame: 8 * 6 * 3,
                budget: 1 << 20, schedule: jobs.scheduler)
            content = try Grays.image(count).content
        }

        func animator(delegate: (any AnimatorDelegate)? = nil) -> Animator {
            Animator(
                content: content, buffer: buffer, repeatCount: .infinite, framePreloadCount: 10,
                delegate: delegate)
        }

        /// One that has all frames and shows the second.
        func animatorAtSecondFrame() -> Animator {
            let animator = animator()
            jobs.runAll()
            animator.tick(elapsed: .zero)
            animator.tick(elapsed: .milliseconds(100))
            return animator
        }
    }

    @Test func showsTheFirstFrameAtOnceWhenItIsInMemory() throws {
        let animator = Animator(image: try Grays.image(3))
        #expect(animator.currentFrameImage?.grayIndex == 0 && animator.frameCount == 3)
        #expect(animator.maxFrameCount == 10 && animator.currentFrameDuration == 0.1)
        #expect(animator.duration(at: 3) == .infinity && animator.duration(at: -1) == .infinity)
        #expect(!animator.isLastFrame)
    }

    @Test func showsEachFrameInItsTime() throws {
        let listener = Listener()
        let animator = Animator(image: try Grays.image(3), delegate: listener)
        var shown: [Int?] = []
        for _ in 0..<5 {
            #expect(!animator.tick(elapsed: .milliseconds(60)))
            #expect(animator.tick(elapsed: .milliseconds(40)))
            shown.append(animator.currentFrameImage?.grayIndex)
        }
        #expect(shown == [1, 2, 0, 1, 2])
        #expect(
            listener.recorder.events == [
                .frame(1), .frame(2), .loops(1), .frame(0), .frame(1), .frame(2), .loops(2),
            ])
        #expect(animator.playedLoops == 2)
    }

    @Test func tellsTheEndOneStepAfterTheLastFrame() throws {
        let listener = Listener()
        let animator = Animator(
            image: try Grays.image(2), repeatCount: .finite(count: 2), delegate: listener)
        for _ in 0..<3 { animator.tick(elapsed: frameTime) }
        #expect(animator.isFinished && animator.isLastFrame)
        #expect(listener.recorder.events.last == .loops(2))
        animator.tick(elapsed: frameTime)
        #expect(listener.recorder.events.last == .finished)
        animator.tick(elapsed: .seconds(1))
        #expect(listener.recorder.events.filter { $0 == .finished }.count == 1)
        #expect(animator.currentFrameImage?.grayIndex == 1)
        animator.restart()
        #expect(!animator.isFinished && animator.playedLoops == 0)
        #expect(animator.currentFrameImage?.grayIndex == 0)
    }

    @Test func goesOnFromAFrameThatIsSought() throws {
        let animator = Animator(image: try Grays.image(4), repeatCount: .once)
        animator.seek(to: 2)
        #expect(animator.currentFrameIndex == 2 && animator.currentFrameImage?.grayIndex == 2)
        // There is no such frame.
        for index in [-1, 4] { animator.seek(to: index) }
        #expect(animator.currentFrameIndex == 2)
        animator.tick(elapsed: frameTime)
        #expect(animator.currentFrameImage?.grayIndex == 3 && animator.isFinished)
        animator.seek(to: 1)
        #expect(!animator.isFinished && animator.currentFrameImage?.grayIndex == 1)
    }

    @Test func countsASecondOfALongFrameForTheLoop() throws {
        let image = try #require(
            Image(
                frames: [Grays.bitmap(0), Grays.bitmap(1)],
                timing: AnimationTiming(durations: [0.25, 5], loopCount: 0)))
        #expect(Animator(image: image).loopDuration == 1.25)
    }

    @Test func staysAtAStillImage() throws {
        let animator = Animator(image: Image(bitmap: try Grays.bitmap(3)), repeatCount: .once)
        #expect(animator.currentFrameImage?.grayIndex == 3)
        #expect(!animator.tick(elapsed: .seconds(1)))
        #expect(animator.currentFrameDuration == .infinity && animator.isLastFrame)
        #expect(!animator.isFinished)
    }

    @Test func holdsTheFrameUntilTheNextIsDecoded() throws {
        let held = try Held(4)
        let animator = held.animator()
        #expect(animator.currentFrameImage == nil)
        #expect(!animator.tick(elapsed: frameTime))
        held.jobs.runNext()
        #expect(animator.tick(elapsed: frameTime))
        #expect(animator.currentFrameImage?.grayIndex == 0)
        #expect(!animator.tick(elapsed: .milliseconds(250)))
        #expect(animator.currentFrameIndex == 0)
        held.jobs.runNext()
        #expect(animator.tick(elapsed: .zero))
        #expect(animator.currentFrameImage?.grayIndex == 1)
        held.jobs.runAll()
        // Of the 250 ms, 150 have passed beyond the first frame.
        #expect(animator.tick(elapsed: .zero))
        #expect(animator.currentFrameImage?.grayIndex == 2)
        #expect(!animator.tick(elapsed: .milliseconds(49)))
        #expect(animator.tick(elapsed: .milliseconds(1)))
        #expect(animator.currentFrameImage?.grayIndex == 3)
    }

    @Test func playsOnBehindADamagedFrame() throws {
        let held = try Held(4, damaged: [0, 2])
        let listener = Listener()
        let animator = held.animator(delegate: listener)
        held.jobs.runAll()
        #expect(animator.tick(elapsed: .zero))
        var shown = [animator.currentFrameImage?.grayIndex]
        for _ in 0..<3 {
            #expect(animator.tick(elapsed: frameTime))
            shown.append(animator.currentFrameImage?.grayIndex)
        }
        #expect(shown == [nil, 1, 1, 3])
        #expect(animator.currentFrameIndex == 3)
    }

    /// Upstream: testAnimatorPurgeFramesKeepsCurrentFrameByDefault
    @Test func keepsTheCurrentFrameWhenPurged() throws {
        let held = try Held(6)
        let animator = held.animatorAtSecondFrame()
        #expect((0..<6).allSatisfy { animator.frame(at: $0) != nil })
        animator.purgeFrames()
        #expect(animator.currentFrameImage?.grayIndex == 1)
        #expect((0..<6).filter { animator.frame(at: $0) != nil } == [1])
        #expect(held.jobs.count == 0)
        // It goes on where it was.
        animator.tick(elapsed: .zero)
        held.jobs.runAll()
        #expect(animator.tick(elapsed: frameTime))
        #expect(animator.currentFrameImage?.grayIndex == 2)
    }

    /// Upstream: testAnimatorPurgeFramesCanPurgeCurrentFrame
    @Test func canPurgeTheCurrentFrame() throws {
        let held = try Held(6)
        let animator = held.animatorAtSecondFrame()
        animator.purgeFrames(keepCurrentFrame: false)
        #expect(animator.currentFrameImage == nil)
        #expect((0..<6).allSatisfy { animator.frame(at: $0) == nil })
        #expect(!animator.tick(elapsed: frameTime))
        held.jobs.runAll()
        #expect(animator.tick(elapsed: frameTime))
        #expect(animator.currentFrameImage?.grayIndex == 1)
    }

    @Test func dropsWhatIsDecodedAfterAPurge() throws {
        let held = try Held(6)
        let animator = held.animator()
        held.jobs.runNext()
        animator.tick(elapsed: .zero)
        animator.purgeFrames()
        held.jobs.runAll()
        #expect((0..<6).filter { animator.frame(at: $0) != nil } == [0])
    }

    @Test func makesFramesAsSmallAsTheTargetNeeds() async throws {
        let image = try #require(Image(data: Grays.gif(3, width: 80, height: 40)))
        let animator = Animator(
            image: image.withScale(2), targetSize: CGSize(width: 10, height: 10))
        // 20 pixels of height are needed to fill the target.
        #expect(animator.prescaledLongestSide == 40)
        await animator.waitForNextFrame()
        animator.tick(elapsed: .zero)
        let frame = try #require(animator.currentFrameImage)
        #expect(frame.pixelSize == PixelSize(width: 40, height: 20))
        #expect(frame.size == CGSize(width: 40, height: 20))
        let full = Animator(
            image: image, needsPrescaling: false, targetSize: CGSize(width: 10, height: 10))
        #expect(full.prescaledLongestSide == nil)
        #expect(Animator(image: image, targetSize: .zero).prescaledLongestSide == nil)
        let large = CGSize(width: 200, height: 10)
        #expect(Animator(image: image, targetSize: large).prescaledLongestSide == nil)
    }

    @Test func freesTheFramesWithTheLastPlayer() throws {
        // All frames are in memory: none that is being decoded keeps the buffer.
        let image = try Grays.image(4)
        let key = FrameBuffers.Key(longestSide: nil, budget: Animator.defaultFrameBudget)
        weak var buffer: FrameBuffer?
        do {
            let first = Animator(image: image)
            do {
                let second = Animator(image: image)
                buffer = image.content.frameBuffer(key)
                #expect(second.frameCount == 4)
            }
            #expect(buffer != nil)
            #expect(first.frameCount == 4)
        }
        #expect(buffer == nil)
    }

    @Test func playsTheAnimationWhoseStateAStillImageTookOver() throws {
        let still = Image(bitmap: try Grays.bitmap(9))
        let animator = Animator(image: try Grays.image(3).kf.copyKingfisherState(to: still))
        #expect(animator.frameCount == 3 && animator.currentFrameImage?.grayIndex == 0)
    }

    // MARK: With a clock

    @Test(arguments: [ImageFormat.GIF, .WebP])
    func playsAFileOnAClock(_ format: ImageFormat) async throws {
        let data = try Grays.image(5).kf.data(
            format: format, options: ImageEncodingOptions(quality: 1))
        let image = try #require(Image(data: data))
        let listener = Listener()
        let animator = Animator(
            image: image, repeatCount: .finite(count: 2), framePreloadCount: 2, delegate: listener)
        let clock = ManualClock()
        let time = Task {
            while !Task.isCancelled {
                await clock.waitForSleepers()
                clock.advanceToNextDeadline()
            }
        }
        await animator.play(on: clock)
        time.cancel()
        await time.value
        let shown: [Event] = listener.recorder.events
        #expect(shown.last == .finished)
        #expect(shown.filter { $0 == .loops(1) || $0 == .loops(2) } == [.loops(1), .loops(2)])
        #expect(shown.suffix(3) == [.frame(4), .loops(2), .finished])
        // Frames that were decoded late took no time of this clock.
        #expect(clock.now.offset == frameTime * 10)
        #expect(!image.content.isFullyResident)
    }

    @Test func stopsPlayingWhenTheTaskIsCancelled() async throws {
        let animator = Animator(image: try Grays.image(3))
        let clock = ManualClock()
        let playing = Task { await animator.play(on: clock) }
        await clock.waitForSleepers()
        playing.cancel()
        await playing.value
        #expect(animator.currentFrameIndex == 0)
    }

    @Test func doesNotPlayAStillImage() async throws {
        let animator = Animator(image: Image(bitmap: try Grays.bitmap(0)))
        await animator.play(on: ManualClock())
        #expect(animator.currentFrameImage?.grayIndex == 0)
    }
}

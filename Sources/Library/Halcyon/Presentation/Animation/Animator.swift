public import Foundation
import Synchronization

/// Plays an animated image, without a view: tells which frame is shown after which time.
///
/// Whoever has a clock moves the time with ``tick(elapsed:)``, such as a view at each redraw, or lets
/// ``play(on:)`` do it. Frames are decoded ahead, elsewhere; if the next one is late, the present one
/// stays. All players of one image share their frames. May be used from any thread.
public final class Animator: Sendable {
    /// Bytes that the decoded frames of one image may take, unless its players say otherwise: 32 MiB.
    public static let defaultFrameBudget = 32 << 20

    private struct State {
        var clockwork: AnimationClockwork
        /// Whether the present frame is still to come; time stands still until then.
        var isWaiting = true
        var current: Shown?
        weak var delegate: (any AnimatorDelegate)?
    }

    /// A frame that is shown, or the one before it in place of one that cannot be decoded.
    private struct Shown {
        var index: Int
        var image: Image
    }

    /// How often the animation runs.
    public let repeatCount: RepeatCount
    /// How many frames after the present one are wanted in memory.
    public let maxFrameCount: Int
    /// The length of the longest side, in pixels, to which frames are made smaller; `nil` for the full
    /// size.
    public let prescaledLongestSide: Int?

    private let content: PixelContent
    private let imageScale: CGFloat
    private let buffer: FrameBuffer
    private let viewer: FrameBuffer.ViewerID
    private let state: Mutex<State>

    /// A player before the first frame. A still image has one frame that stays.
    ///
    /// - Parameters:
    ///   - image: What is played; a player is for one image.
    ///   - repeatCount: How often the animation runs, whatever the file says.
    ///   - framePreloadCount: How many frames are decoded ahead, if the budget allows.
    ///   - needsPrescaling: Whether frames are made smaller to what `targetSize` needs.
    ///   - targetSize: The size of the view, in points; `nil` or zero when it is not known.
    ///   - frameBudget: Bytes that the decoded frames may take, all players of the image together; one
    ///     frame per player is held in any case, as is the frame that a player shows. Small animations
    ///     are kept whole, of others the next frames.
    ///   - delegate: Held weakly.
    public convenience init(
        image: Image, repeatCount: RepeatCount = .infinite, framePreloadCount: Int = 10,
        needsPrescaling: Bool = true, targetSize: CGSize? = nil,
        frameBudget: Int = Animator.defaultFrameBudget, delegate: (any AnimatorDelegate)? = nil
    ) {
        let content = image.playback
        let side =
            needsPrescaling
            ? content.size.longestSide(filling: targetSize, scale: image.scale) : nil
        self.init(
            content: content, scale: image.scale,
            buffer: content.frameBuffer(
                FrameBuffers.Key(longestSide: side, budget: max(0, frameBudget))),
            prescaledLongestSide: side, repeatCount: repeatCount,
            framePreloadCount: framePreloadCount, delegate: delegate)
    }

    init(
        content: PixelContent, scale: CGFloat = 1, buffer: FrameBuffer,
        prescaledLongestSide: Int? = nil, repeatCount: RepeatCount = .infinite,
        framePreloadCount: Int = 10, delegate: (any AnimatorDelegate)? = nil
    ) {
        self.content = content
        self.repeatCount = repeatCount
        self.buffer = buffer
        self.prescaledLongestSide = prescaledLongestSide
        imageScale = scale
        maxFrameCount = max(1, framePreloadCount)
        let clockwork = AnimationClockwork(
            durations: content.timing?.durations ?? [.infinity], repeatCount: repeatCount)
        state = Mutex(State(clockwork: clockwork, delegate: delegate))
        viewer = buffer.join(at: 0, lookahead: maxFrameCount)
        _ = showPresentFrame()
    }

    deinit {
        buffer.leave(viewer)
    }

    /// The delegate, which is told what happens; a weak reference.
    public var delegate: (any AnimatorDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    // MARK: What is shown

    /// The frame that is shown; `nil` until the first one is decoded and after it was purged.
    public var currentFrameImage: Image? { state.withLock { $0.current?.image } }
    /// The index of the frame that is shown.
    public var currentFrameIndex: Int { state.withLock { $0.clockwork.index } }
    /// Seconds that the frame is shown.
    public var currentFrameDuration: TimeInterval { duration(at: currentFrameIndex) }
    /// Whether the frame is the last one.
    public var isLastFrame: Bool { state.withLock { $0.clockwork.isLastFrame } }
    /// Whether the last run is over.
    public var isFinished: Bool { state.withLock { $0.clockwork.isFinished } }
    /// How often the last frame was reached.
    public var playedLoops: UInt { state.withLock { $0.clockwork.playedLoops } }

    // MARK: The animation

    /// How many frames there are.
    public var frameCount: Int { content.frameCount }

    /// Seconds that one run takes, frames of more than a second counted as one second.
    public var loopDuration: TimeInterval {
        content.timing?.durations.reduce(0) { $0 + min($1, 1) } ?? 0
    }

    /// Seconds that a frame is shown; infinity when it is not known.
    public func duration(at index: Int) -> TimeInterval {
        guard let durations = content.timing?.durations, durations.indices.contains(index) else {
            return .infinity
        }
        return durations[index]
    }

    /// A frame, if it is in memory.
    public func frame(at index: Int) -> Image? {
        if let current = state.withLock({ $0.current }), current.index == index {
            return current.image
        }
        return buffer.contents.frames[index].map(image)
    }

    // MARK: Playing

    /// Lets time pass and tells the delegate what happened.
    ///
    /// A step counts for at most a second. Never waits: a frame that is not decoded yet is shown late,
    /// those whose time is over meanwhile are left out.
    /// - Returns: Whether another frame is shown now.
    @discardableResult
    public func tick(elapsed: Duration) -> Bool {
        if state.withLock({ $0.isWaiting }) {
            guard let index = showPresentFrame() else { return false }
            delegate?.animator(self, didShowFrameAt: index)
            return true
        }
        let contents = buffer.contents
        let (events, index, delegate) = state.withLock { state in
            let events = state.clockwork.advance(by: elapsed) { contents.isReady($0) }
            let index = state.clockwork.index
            if let frame = contents.frames[index], state.current?.index != index {
                state.current = Shown(index: index, image: image(frame))
            }
            return (events, index, state.delegate)
        }
        if !isFinished { buffer.move(viewer, to: index) }
        for event in events {
            switch event {
            case .frame(let index): delegate?.animator(self, didShowFrameAt: index)
            case .loop(let count): delegate?.animator(self, didPlayAnimationLoops: count)
            case .finished: delegate?.animatorDidFinishAnimating(self)
            }
        }
        return events.contains { if case .frame = $0 { true } else { false } }
    }

    /// Starts again at the first frame, with no run counted.
    public func restart() {
        state.withLock { state in
            state.clockwork = AnimationClockwork(
                durations: content.timing?.durations ?? [.infinity], repeatCount: repeatCount)
            state.isWaiting = true
        }
        buffer.seek(viewer, to: 0)
        _ = showPresentFrame()
    }

    /// Releases decoded frames that no other player needs; the next tick has them decoded again.
    ///
    /// - Parameter keepCurrentFrame: Whether the frame that is shown stays.
    public func purgeFrames(keepCurrentFrame: Bool = true) {
        buffer.purge(viewer, keepsPresent: keepCurrentFrame)
        guard !keepCurrentFrame else { return }
        state.withLock { state in
            state.current = nil
            state.isWaiting = true
        }
    }

    /// The time until something happens, if frames are decoded in time; `nil` when nothing will.
    var timeToNextEvent: Duration? { state.withLock { $0.clockwork.timeToNextEvent } }

    /// Waits until the next frame, or the first one, can be shown.
    ///
    /// Returns early when the task is cancelled, or when the frame is not being decoded.
    func waitForNextFrame() async {
        while !Task.isCancelled {
            let index = state.withLock { state in
                state.isWaiting ? state.clockwork.index : state.clockwork.nextIndex
            }
            guard !buffer.contents.isReady(index), buffer.isLoading else { return }
            await buffer.waitForLoad()
        }
    }

    /// Shows the frame at the present index if it is there, or else has it decoded; returns its index.
    ///
    /// One that cannot be decoded counts as shown, so that the others are played.
    private func showPresentFrame() -> Int? {
        let index = currentFrameIndex
        let contents = buffer.contents
        guard contents.isReady(index) else {
            buffer.seek(viewer, to: index)
            return nil
        }
        state.withLock { state in
            state.isWaiting = false
            if let frame = contents.frames[index] {
                state.current = Shown(index: index, image: image(frame))
            }
        }
        buffer.move(viewer, to: index)
        return index
    }

    private func image(_ frame: Bitmap) -> Image {
        // Of the size in points that the image has.
        let reduction = CGFloat(frame.size.width) / CGFloat(content.size.width)
        return Image(bitmap: frame, scale: imageScale * reduction)
    }
}

extension PixelSize {
    /// The longest side that an image of this size needs to cover `target` points; `nil` if it has to
    /// keep its own, or when nothing is known of the target.
    fileprivate func longestSide(filling target: CGSize?, scale: CGFloat) -> Int? {
        guard let target, target.width > 0, target.height > 0 else { return nil }
        let factor = max(
            target.width * scale / CGFloat(width), target.height * scale / CGFloat(height))
        guard factor < 1 else { return nil }
        return Self.length((CGFloat(longestSide) * factor).rounded(.up))
    }
}

extension Animator {
    /// Plays on `clock` until the last run is over or the task is cancelled.
    ///
    /// Returns at once for a still image. Sleeps until the next frame is due, and longer only if it is
    /// not decoded by then. Nobody else should move the time meanwhile.
    public func play(on clock: some Clock<Duration> = ContinuousClock()) async {
        await waitForNextFrame()
        tick(elapsed: .zero)
        var last = clock.now
        while !Task.isCancelled, let pause = timeToNextEvent {
            if pause > .zero {
                do {
                    try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil)
                } catch {
                    // Clocks throw when the task is cancelled, which ends the playing.
                    return
                }
            } else {
                await waitForNextFrame()
                // The frame may have been purged meanwhile; the tick has it decoded again.
                await Task.yield()
            }
            let now = clock.now
            tick(elapsed: last.duration(to: now))
            last = now
        }
    }
}

/// Told what happens to an animation, on the thread that moved its time.
public protocol AnimatorDelegate: AnyObject, Sendable {
    /// `animator` shows another frame. Does nothing by default.
    func animator(_ animator: Animator, didShowFrameAt index: Int)

    /// `animator` reached its last frame, `count` times by now. Does nothing by default.
    func animator(_ animator: Animator, didPlayAnimationLoops count: UInt)

    /// `animator` has stopped after its last run. Does nothing by default.
    func animatorDidFinishAnimating(_ animator: Animator)
}

extension AnimatorDelegate {
    public func animator(_ animator: Animator, didShowFrameAt index: Int) {}
    public func animator(_ animator: Animator, didPlayAnimationLoops count: UInt) {}
    public func animatorDidFinishAnimating(_ animator: Animator) {}
}

public import Foundation
import Synchronization

/// Plays an animated image without a view: determines the frame to show at each time.
///
/// Advance the time with ``tick(elapsed:)``, for example at each redraw of a view, or let
/// ``play(on:)`` do it. Frames are decoded ahead, on other threads; if the next one is late, the
/// current one stays. All players of one image share their frames. May be used from any thread.
public final class Animator: Sendable {
    /// The default memory budget for the decoded frames of one image, in bytes: 32 MiB.
    public static let defaultFrameBudget = 32 << 20

    private struct State {
        var clockwork: AnimationClockwork
        /// Whether the current frame is not decoded yet; time stands still until then.
        var isWaiting = true
        var current: Shown?
        weak var delegate: (any AnimatorDelegate)?
    }

    /// The frame on display; the previous frame's image if its own cannot be decoded.
    private struct Shown {
        var index: Int
        var image: Image
    }

    /// The number of times the animation runs.
    public let repeatCount: RepeatCount
    /// The number of frames to keep decoded after the current one.
    public let maxFrameCount: Int
    /// The longest side of reduced frames, in pixels; `nil` for the full size.
    public let prescaledLongestSide: Int?

    private let content: PixelContent
    private let imageScale: CGFloat
    private let buffer: FrameBuffer
    private let viewer: FrameBuffer.ViewerID
    private let state: Mutex<State>

    /// Creates a player before the first frame. A still image has one frame that stays.
    ///
    /// - Parameters:
    ///   - image: The image to play; a player is for one image.
    ///   - repeatCount: The number of runs, whatever the file says.
    ///   - framePreloadCount: The number of frames to decode ahead, if the budget allows.
    ///   - needsPrescaling: Whether frames are reduced to the size needed for `targetSize`.
    ///   - targetSize: The size of the view, in points; `nil` or zero if unknown.
    ///   - frameBudget: The memory for decoded frames, in bytes, shared by all players of the
    ///     image; one frame per player is held in any case, as is the frame on display. Small
    ///     animations are kept whole, others only with their next frames.
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

    /// The delegate, a weak reference.
    public var delegate: (any AnimatorDelegate)? {
        get { state.withLock { $0.delegate } }
        set { state.withLock { $0.delegate = newValue } }
    }

    /// The current frame; `nil` until the first one is decoded, and after it was purged.
    public var currentFrameImage: Image? { state.withLock { $0.current?.image } }
    /// The index of the current frame.
    public var currentFrameIndex: Int { state.withLock { $0.clockwork.index } }
    /// The duration of the current frame, in seconds.
    public var currentFrameDuration: TimeInterval { duration(at: currentFrameIndex) }
    /// Whether the current frame is the last one.
    public var isLastFrame: Bool { state.withLock { $0.clockwork.isLastFrame } }
    /// Whether the last run is over.
    public var isFinished: Bool { state.withLock { $0.clockwork.isFinished } }
    /// The number of times the last frame was reached.
    public var playedLoops: UInt { state.withLock { $0.clockwork.playedLoops } }

    /// The number of frames.
    public var frameCount: Int { content.frameCount }

    /// The duration of one run, in seconds; frames longer than a second count as one second.
    public var loopDuration: TimeInterval {
        content.timing?.durations.reduce(0) { $0 + min($1, 1) } ?? 0
    }

    /// Returns the duration of a frame, in seconds; infinity if unknown.
    public func duration(at index: Int) -> TimeInterval {
        guard let durations = content.timing?.durations, durations.indices.contains(index) else {
            return .infinity
        }
        return durations[index]
    }

    /// Returns a frame, if it is in memory.
    public func frame(at index: Int) -> Image? {
        if let current = state.withLock({ $0.current }), current.index == index {
            return current.image
        }
        return buffer.contents.frames[index].map(image)
    }

    /// Advances the time and notifies the delegate.
    ///
    /// A step counts for at most a second. Never blocks: a frame that is not decoded yet is shown
    /// late, and frames overdue by then are skipped.
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

    /// Restarts at the first frame, with no run counted.
    public func restart() {
        state.withLock { state in
            state.clockwork = AnimationClockwork(
                durations: content.timing?.durations ?? [.infinity], repeatCount: repeatCount)
            state.isWaiting = true
        }
        buffer.seek(viewer, to: 0)
        _ = showPresentFrame()
    }

    /// Goes on from frame `index`, counted from 0, which is shown once it is decoded. A finished animation plays on.
    ///
    /// Does nothing without such a frame.
    public func seek(to index: Int) {
        guard (0..<frameCount).contains(index) else { return }
        state.withLock { state in
            state.clockwork.seek(to: index)
            state.isWaiting = true
        }
        buffer.seek(viewer, to: index)
        _ = showPresentFrame()
    }

    /// Releases decoded frames that no other player needs; the next tick decodes them again.
    ///
    /// - Parameter keepCurrentFrame: Whether the current frame is kept.
    public func purgeFrames(keepCurrentFrame: Bool = true) {
        buffer.purge(viewer, keepsPresent: keepCurrentFrame)
        guard !keepCurrentFrame else { return }
        state.withLock { state in
            state.current = nil
            state.isWaiting = true
        }
    }

    /// The time until the next event if frames are decoded in time; `nil` if there is none.
    var timeToNextEvent: Duration? { state.withLock { $0.clockwork.timeToNextEvent } }

    /// Waits until the next frame, or the first one, can be shown, the task is cancelled, or the frame is
    /// not being decoded.
    package func waitForNextFrame() async {
        while !Task.isCancelled {
            let index = state.withLock { state in
                state.isWaiting ? state.clockwork.index : state.clockwork.nextIndex
            }
            guard !buffer.contents.isReady(index), buffer.isLoading else { return }
            await buffer.waitForLoad()
        }
    }

    /// Shows the frame at the current index if it is decoded, and otherwise requests it; returns its
    /// index once shown. One that cannot be decoded counts as shown, so that the others are played.
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
        // With the same size in points as the image.
        let reduction = CGFloat(frame.size.width) / CGFloat(content.size.width)
        return Image(bitmap: frame, scale: imageScale * reduction)
    }
}

extension PixelSize {
    /// The longest side that an image of this size needs to cover `target` points; `nil` if it must
    /// keep its own, or if the target is unknown.
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
    /// Returns at once for a still image. Sleeps until the next frame is due, and longer only if it
    /// is not decoded by then. Do not call ``tick(elapsed:)`` meanwhile.
    public func play(on clock: some Clock<Duration> = ContinuousClock()) async {
        await waitForNextFrame()
        tick(elapsed: .zero)
        var last = clock.now
        while !Task.isCancelled, let pause = timeToNextEvent {
            if pause > .zero {
                do {
                    try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil)
                } catch {
                    // Clocks throw when the task is cancelled, which ends playback.
                    return
                }
            } else {
                await waitForNextFrame()
                // The frame may have been purged meanwhile; the tick requests it again.
                await Task.yield()
            }
            let now = clock.now
            tick(elapsed: last.duration(to: now))
            last = now
        }
    }
}

/// Receives the events of an animation, on the thread that advances its time.
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

public import Foundation
public import Halcyon

/// An image view that plays animations.
///
/// Frames are decoded ahead on the decoding threads, never on the main thread; until a late frame
/// is ready, the previous one stays. Views of one image share frames and textures. The animation
/// pauses while the view is not on the screen.
@MainActor open class AnimatedImageView: ImageView {
    /// Whether an animation starts by itself when it is on the screen; `true` by default. Otherwise
    /// `startAnimating()` starts it.
    public var autoPlayAnimatedImage = true

    /// The number of frames decoded ahead of the current one; 10 by default. Applies from the next
    /// image on.
    public var framePreloadCount = 10

    /// Whether frames are downsampled to the size the view has when the animation starts; `true` by
    /// default. Applies from the next image on.
    public var needsPrescaling = true

    /// The number of runs of an animation, whatever its file says; unlimited by default. Another
    /// value restarts the animation.
    public var repeatCount = RepeatCount.infinite {
        didSet {
            guard repeatCount != oldValue else { return }
            removeAnimator()
            updatePlaying()
        }
    }

    /// The delegate, which is told of finished loops and of the end of the animation.
    public weak var delegate: (any AnimatedImageViewDelegate)?

    /// The player of the image; `nil` without an animation, and before the view is on the screen.
    public private(set) var animator: Animator?

    private let listener = Listener()
    private var wantsToPlay = false
    private var hasFinished = false
    private var playing: FrameSubscription?
    private var lastTime: Duration?
    private var shownFrame: (image: Image, picture: Picture)?
    private var seeking: Task<Void, Never>?

    public override init(image: KFCrossPlatformImage? = nil) {
        super.init(image: image)
        listener.view = self
    }

    // MARK: The image

    open override var image: KFCrossPlatformImage? {
        get { super.image }
        set {
            guard newValue !== super.image else { return }
            removeAnimator()
            super.image = newValue
            wantsToPlay = autoPlayAnimatedImage
            updatePlaying()
        }
    }

    /// The frame on show; the first one of an animation that has not begun.
    open override var picture: Picture? { shownFrame?.picture ?? super.picture }

    // MARK: Playing

    /// Whether the animation is playing.
    public var isAnimating: Bool { playing != nil }

    /// Starts or resumes the animation once the view is on the screen. A finished one stays as it
    /// is.
    public func startAnimating() {
        wantsToPlay = true
        updatePlaying()
    }

    /// Pauses the animation at the current frame.
    public func stopAnimating() {
        wantsToPlay = false
        updatePlaying()
    }

    /// Pauses the animation and shows frame `index`, counted from 0, as soon as it is decoded. `startAnimating()` goes on
    /// from there. Does nothing without such a frame, and before the view is on the screen.
    public func showFrame(_ index: Int) {
        guard let animator, (0..<animator.frameCount).contains(index) else { return }
        stopAnimating()
        hasFinished = false
        animator.seek(to: index)
        showFrame(of: animator)
        seeking?.cancel()
        seeking = Task { [weak self] in
            await animator.waitForNextFrame()
            guard let self, !Task.isCancelled, animator === self.animator else { return }
            animator.tick(elapsed: .zero)
            showFrame(of: animator)
        }
    }

    /// Releases the decoded frames that no other view needs; they are decoded again when needed.
    ///
    /// - Parameter keepCurrentFrame: Whether the current frame stays in memory.
    public func purgeFrames(keepCurrentFrame: Bool = true) {
        animator?.purgeFrames(keepCurrentFrame: keepCurrentFrame)
    }

    open override func didAppear() {
        super.didAppear()
        updatePlaying()
    }

    open override func willDisappear() {
        super.willDisappear()
        pause()
    }

    open override func layout(size: CGSize) {
        super.layout(size: size)
        updatePlaying()
    }

    private func removeAnimator() {
        animator = nil
        seeking?.cancel()
        hasFinished = false
        shownFrame = nil
        pause()
    }

    private func pause() {
        playing = nil
        lastTime = nil
    }

    /// Plays if that is requested and possible, which includes that the view has a size.
    private func updatePlaying() {
        guard isMapped, size != .zero, let image = super.image, image.isAnimation else {
            return pause()
        }
        let animator = animator ?? makeAnimator(of: image)
        self.animator = animator
        guard wantsToPlay, !hasFinished else { return pause() }
        guard playing == nil else { return }
        playing = frameTicker.onEachFrame { [weak self] time in self?.tick(time) }
    }

    private func makeAnimator(of image: Image) -> Animator {
        let scale = scaleFactor
        return Animator(
            image: image, repeatCount: repeatCount, framePreloadCount: framePreloadCount,
            needsPrescaling: needsPrescaling && contentMode != .center,
            targetSize: CGSize(
                width: size.width * scale / image.scale, height: size.height * scale / image.scale),
            delegate: listener)
    }

    private func tick(_ time: Duration) {
        guard let animator else { return }
        let elapsed = lastTime.map { time - $0 } ?? .zero
        lastTime = time
        animator.tick(elapsed: elapsed)
        // The delegate may have set another image.
        if animator === self.animator { showFrame(of: animator) }
    }

    private func showFrame(of animator: Animator) {
        guard let frame = animator.currentFrameImage, frame !== shownFrame?.image,
            // A frame of an animator is in memory.
            let bitmap = try? frame.bitmap()
        else { return }
        shownFrame = (frame, Picture(bitmap, scale: frame.scale))
        setNeedsDisplay()
    }

    private func didFinish() {
        hasFinished = true
        pause()
        delegate?.animatedImageViewDidFinishAnimating(self)
    }

    /// The animator is advanced on the main thread only, and so calls its delegate there.
    private final class Listener: AnimatorDelegate, @unchecked Sendable {
        // Unchecked because the reference changes; it is used on the main thread only.
        weak var view: AnimatedImageView?

        func animator(_ animator: Animator, didPlayAnimationLoops count: UInt) {
            MainActor.assumeIsolated {
                guard let view else { return }
                view.delegate?.animatedImageView(view, didPlayAnimationLoops: count)
            }
        }

        func animatorDidFinishAnimating(_ animator: Animator) {
            MainActor.assumeIsolated { view?.didFinish() }
        }
    }
}

extension Image {
    /// Whether the image has more than one frame to play.
    var isAnimation: Bool {
        animation != nil || (kf.imageFrameCount ?? 1) > 1 && kf.frameSource != nil
    }
}

/// The delegate of an `AnimatedImageView`.
@MainActor public protocol AnimatedImageViewDelegate: AnyObject {
    /// Called when `imageView` has reached the last frame for the `count`th time. Does nothing by
    /// default.
    func animatedImageView(_ imageView: AnimatedImageView, didPlayAnimationLoops count: UInt)

    /// Called when `imageView` has stopped after the last run. Does nothing by default.
    func animatedImageViewDidFinishAnimating(_ imageView: AnimatedImageView)
}

extension AnimatedImageViewDelegate {
    public func animatedImageView(
        _ imageView: AnimatedImageView, didPlayAnimationLoops count: UInt
    ) {}
    public func animatedImageViewDidFinishAnimating(_ imageView: AnimatedImageView) {}
}

public import Foundation
public import Halcyon

/// An image view that plays animations.
///
/// Frames are decoded ahead on the decoding threads, never on the main thread; a late frame leaves the
/// one before it on show. Views of one image share frames and textures. The view is idle while it is not
/// on the screen, and goes on where it was when it comes back.
@MainActor open class AnimatedImageView: ImageView {
    /// Whether an animation begins by itself when it is on the screen; `true` by default. Otherwise
    /// `startAnimating()` begins it.
    public var autoPlayAnimatedImage = true

    /// How many frames after the present one are decoded ahead; 10 by default. Counts for the next image.
    public var framePreloadCount = 10

    /// Whether frames are made smaller to what the view needs, if its size is known when the animation
    /// begins; `true` by default. Counts for the next image.
    public var needsPrescaling = true

    /// How often an animation runs, whatever its file says; without limit by default. Another value
    /// begins anew.
    public var repeatCount = RepeatCount.infinite {
        didSet {
            guard repeatCount != oldValue else { return }
            removeAnimator()
            updatePlaying()
        }
    }

    /// Told of what happens to the animation.
    public weak var delegate: (any AnimatedImageViewDelegate)?

    /// What plays the image; `nil` for none, for a still one, and before the view is on the screen.
    public private(set) var animator: Animator?

    private let listener = Listener()
    private var wantsToPlay = false
    private var hasFinished = false
    private var playing: FrameSubscription?
    private var lastTime: Duration?
    private var shownFrame: (image: Image, picture: Picture)?

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

    /// Whether frames are being shown one after the other.
    public var isAnimating: Bool { playing != nil }

    /// Begins the animation, or goes on with it, once the view is on the screen. One whose last run is
    /// over stays as it is.
    public func startAnimating() {
        wantsToPlay = true
        updatePlaying()
    }

    /// Leaves the frame on show where it is.
    public func stopAnimating() {
        wantsToPlay = false
        updatePlaying()
    }

    /// Lets decoded frames go that no other view needs; they are decoded again when they are shown next.
    ///
    /// - Parameter keepCurrentFrame: Whether the frame on show stays in memory.
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
        hasFinished = false
        shownFrame = nil
        pause()
    }

    private func pause() {
        playing?.cancel()
        playing = nil
        lastTime = nil
    }

    /// Plays if that is wanted and possible. The size of the view is known by then.
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

    /// Hears what the animator says. Time is moved on the main thread only, and so it is told there.
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
    /// Whether there is more than one frame to be played.
    fileprivate var isAnimation: Bool {
        animation != nil || (kf.imageFrameCount ?? 1) > 1 && kf.frameSource != nil
    }
}

/// What happens to the animation of an `AnimatedImageView`.
@MainActor public protocol AnimatedImageViewDelegate: AnyObject {
    /// `imageView` reached the last frame, `count` times by now. Does nothing by default.
    func animatedImageView(_ imageView: AnimatedImageView, didPlayAnimationLoops count: UInt)

    /// `imageView` has stopped after the last run. Does nothing by default.
    func animatedImageViewDidFinishAnimating(_ imageView: AnimatedImageView)
}

extension AnimatedImageViewDelegate {
    public func animatedImageView(
        _ imageView: AnimatedImageView, didPlayAnimationLoops count: UInt
    ) {}
    public func animatedImageViewDidFinishAnimating(_ imageView: AnimatedImageView) {}
}

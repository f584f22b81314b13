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

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

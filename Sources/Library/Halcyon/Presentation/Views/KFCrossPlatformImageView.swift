public import Foundation

/// A view that shows an image: what a toolkit's image view has to offer to get all of Halcyon.
///
/// An adapter stores an `ImageViewState` and gives the members below. Those with a default may be
/// left out by a view that cannot animate or shows animations frame by frame itself.
@MainActor public protocol KFCrossPlatformImageView: KFCrossPlatformView, KingfisherCompatible {
    /// The image on show; `nil` shows none.
    var image: KFCrossPlatformImage? { get set }

    /// What Halcyon remembers about this view. A stored constant: always the same object.
    var imageViewState: ImageViewState { get }

    /// Whether all frames of an animation are decoded before it is shown; `true` by default.
    var preloadsAllAnimationData: Bool { get }

    /// The area that images are made for whose load names no processor; `nil`, the default, leaves them
    /// as large as they are.
    var displayArea: DisplayArea? { get }

    /// Puts `view` on top of the image.
    func addOverlay(_ view: any KFCrossPlatformView, placement: OverlayPlacement)

    /// Takes away a view that `addOverlay` put there; does nothing if it is not there.
    func removeOverlay(_ view: any KFCrossPlatformView)

    /// A spinner of this toolkit, not animating.
    func makeActivityView() -> any ActivityView

    /// An image view of this toolkit, for an image that serves as indicator.
    func makeImageView() -> any KFCrossPlatformImageView

    /// Shows a change of the image as an animation.
    ///
    /// `changes` sets the image and must run exactly once; `completion` must run exactly once, when
    /// the animation has ended, with `false` if it was interrupted. By default both run at once.
    /// `transition` is never `.none`.
    func animate(
        _ transition: ImageTransition, changes: @escaping @MainActor () -> Void,
        completion: @escaping @MainActor (_ finished: Bool) -> Void)

    /// Interrupts the animation that `animate` began, if it still runs: the image is seen as it is. Does
    /// nothing by default.
    func endAnimation()
}

extension KFCrossPlatformImageView {
    public var preloadsAllAnimationData: Bool { true }

    public var displayArea: DisplayArea? { nil }

    public func animate(
        _ transition: ImageTransition, changes: @escaping @MainActor () -> Void,
        completion: @escaping @MainActor (_ finished: Bool) -> Void
    ) {
        changes()
        completion(true)
    }

    public func endAnimation() {}
}

/// A view of some toolkit, as far as an image view carries others on top of its image.
@MainActor public protocol KFCrossPlatformView: AnyObject {
    /// Whether the view is there but not shown.
    var isHidden: Bool { get set }
}

/// A view that shows that something is going on, such as a spinner.
@MainActor public protocol ActivityView: KFCrossPlatformView {
    /// Starts the animation.
    func startAnimating()
    /// Stops the animation.
    func stopAnimating()
}

/// Where a view lies on an image view: its centre is the image view's, moved by `offset`.
public struct OverlayPlacement: Hashable, Sendable {
    /// How large it is.
    public var size: IndicatorSizeStrategy
    /// How far its centre is from the image view's, in points.
    public var offset: CGPoint

    public init(size: IndicatorSizeStrategy = .full, offset: CGPoint = .zero) {
        self.size = size
        self.offset = offset
    }
}

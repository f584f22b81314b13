public import Foundation

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

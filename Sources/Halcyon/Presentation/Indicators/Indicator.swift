public import Foundation

/// The view of an indicator.
public typealias IndicatorView = KFCrossPlatformView

/// Shows that an image is being loaded, on top of an image view.
@MainActor public protocol Indicator: Sendable {
    /// Called when a load begins, once for each.
    func startAnimatingView()
    /// Called when a load has ended, once for each; an earlier load may end after a later one began.
    func stopAnimatingView()
    /// Called as the bytes of an image arrive, when their total is known. Does nothing by default.
    func showProgress(received: Int64, total: Int64)
    /// How far the view's centre is from the image view's, in points; zero by default.
    var centerOffset: CGPoint { get }
    /// The view; always the same one. It is hidden when the indicator is set.
    var view: any IndicatorView { get }
    /// How large the view is; `.full` by default.
    func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy
}

extension Indicator {
    public var centerOffset: CGPoint { .zero }

    public func showProgress(received: Int64, total: Int64) {}

    public func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy {
        .full
    }
}

/// How large a view on top of an image view is.
public enum IndicatorSizeStrategy: Hashable, Sendable {
    /// As large as it wants to be.
    case intrinsicSize
    /// As large as the image view.
    case full
    /// This large, in points.
    case size(CGSize)

    public func hash(into hasher: inout Hasher) {
        if case .size(let size) = self {
            hasher.combine(size.width)
            hasher.combine(size.height)
        }
    }
}

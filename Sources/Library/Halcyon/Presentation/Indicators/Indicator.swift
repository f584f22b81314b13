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

/// The indicator an image view has.
public enum IndicatorType: Sendable {
    /// None.
    case none
    /// The toolkit's spinner.
    case activity
    /// An image, given as the bytes of its file; an animation plays if the toolkit's image views
    /// play them. Nothing is shown when the bytes are not an image.
    case image(imageData: Data)
    /// One of the caller's own.
    case custom(indicator: any Indicator)

    /// A new indicator for `view`; the caller's own as it is.
    @MainActor func indicator(for view: any KFCrossPlatformImageView) -> (any Indicator)? {
        switch self {
        case .none: nil
        case .activity: ActivityIndicator(view: view.makeActivityView())
        case .image(let data): ImageIndicator(imageData: data, view: view.makeImageView())
        case .custom(let indicator): indicator
        }
    }
}

/// The toolkit's spinner, seen as long as any load runs.
@MainActor final class ActivityIndicator: Indicator {
    private let spinner: any ActivityView
    private var runningLoads = 0

    init(view: any ActivityView) {
        spinner = view
    }

    var view: any IndicatorView { spinner }

    func startAnimatingView() {
        if runningLoads == 0 {
            spinner.startAnimating()
            spinner.isHidden = false
        }
        runningLoads += 1
    }

    func stopAnimatingView() {
        runningLoads = max(0, runningLoads - 1)
        if runningLoads == 0 {
            spinner.stopAnimating()
            spinner.isHidden = true
        }
    }

    func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy {
        .intrinsicSize
    }
}

/// An image that is seen as long as any load runs.
@MainActor final class ImageIndicator: Indicator {
    private let imageView: any KFCrossPlatformImageView
    private var runningLoads = 0

    /// `nil` when the bytes are no image.
    init?(imageData: Data, view: any KFCrossPlatformImageView) {
        guard let image = Image(data: imageData) else { return nil }
        imageView = view
        imageView.image = image
    }

    var view: any IndicatorView { imageView }

    func startAnimatingView() {
        runningLoads += 1
        imageView.isHidden = false
    }

    func stopAnimatingView() {
        runningLoads = max(0, runningLoads - 1)
        if runningLoads == 0 { imageView.isHidden = true }
    }
}

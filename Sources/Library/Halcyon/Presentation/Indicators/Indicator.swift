public import Foundation

/// The view of an indicator.
public typealias IndicatorView = KFCrossPlatformView

/// Shows that an image is being loaded, on top of an image view.
@MainActor public protocol Indicator: Sendable {
    /// Called at the start of each load.
    func startAnimatingView()
    /// Called at the end of each load; an earlier load may end after a later one began.
    func stopAnimatingView()
    /// Called as the bytes of an image arrive, when their total is known. Does nothing by default.
    func showProgress(received: Int64, total: Int64)
    /// The offset of the view's centre from the image view's, in points; zero by default.
    var centerOffset: CGPoint { get }
    /// The view; always the same one. It is hidden when the indicator is set.
    var view: any IndicatorView { get }
    /// The size of the view; `.full` by default.
    func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy
}

extension Indicator {
    public var centerOffset: CGPoint { .zero }

    public func showProgress(received: Int64, total: Int64) {}

    public func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy {
        .full
    }
}

/// The size of a view on top of an image view.
public enum IndicatorSizeStrategy: Hashable, Sendable {
    /// The view's own size.
    case intrinsicSize
    /// The size of the image view.
    case full
    /// A fixed size, in points.
    case size(CGSize)

    public func hash(into hasher: inout Hasher) {
        if case .size(let size) = self {
            hasher.combine(size.width)
            hasher.combine(size.height)
        }
    }
}

/// The kind of an image view's indicator.
public enum IndicatorType: Sendable {
    /// None.
    case none
    /// The toolkit's spinner.
    case activity
    /// An image, given as the bytes of its file; an animation plays if the toolkit's image views
    /// play them. Without effect if the bytes are not an image.
    case image(imageData: Data)
    /// An indicator of the caller's own.
    case custom(indicator: any Indicator)

    /// Makes an indicator for `view`; a custom one is returned as it is.
    @MainActor func indicator(for view: any KFCrossPlatformImageView) -> (any Indicator)? {
        switch self {
        case .none: nil
        case .activity: ActivityIndicator(view: view.makeActivityView())
        case .image(let data): ImageIndicator(imageData: data, view: view.makeImageView())
        case .custom(let indicator): indicator
        }
    }
}

/// The toolkit's spinner, visible as long as any load runs.
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

/// An image, visible as long as any load runs.
@MainActor final class ImageIndicator: Indicator {
    private let imageView: any KFCrossPlatformImageView
    private var runningLoads = 0

    /// `nil` if the bytes are not an image.
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

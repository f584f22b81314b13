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
        case .activity: ViewIndicator(view.makeActivityView())
        case .image(let data): ViewIndicator(imageData: data, view: view.makeImageView())
        case .custom(let indicator): indicator
        }
    }
}

/// The toolkit's spinner, or an image, visible as long as any load runs.
@MainActor final class ViewIndicator: Indicator {
    let view: any IndicatorView
    private let spinner: (any ActivityView)?
    private var runningLoads = 0

    init(_ spinner: any ActivityView) {
        view = spinner
        self.spinner = spinner
    }

    /// `nil` if the bytes are not an image.
    init?(imageData: Data, view: any KFCrossPlatformImageView) {
        guard let image = Image(data: imageData) else { return nil }
        view.image = image
        self.view = view
        spinner = nil
    }

    func startAnimatingView() {
        if runningLoads == 0 { spinner?.startAnimating() }
        runningLoads += 1
        view.isHidden = false
    }

    func stopAnimatingView() {
        runningLoads = max(0, runningLoads - 1)
        guard runningLoads == 0 else { return }
        spinner?.stopAnimating()
        view.isHidden = true
    }

    func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy {
        spinner == nil ? .full : .intrinsicSize
    }
}

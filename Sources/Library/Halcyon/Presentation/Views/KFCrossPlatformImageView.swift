public import Foundation

/// A view that shows an image: the interface a toolkit's image view needs for all of Halcyon's
/// features.
///
/// An adapter stores an `ImageViewState` and implements the members below. Those with a default may
/// be omitted by a view that cannot animate or that plays animations itself.
@MainActor public protocol KFCrossPlatformImageView: KFCrossPlatformView, KingfisherCompatible {
    /// The image on display; `nil` for none.
    var image: KFCrossPlatformImage? { get set }

    /// Halcyon's state for this view. A stored constant: always the same object.
    var imageViewState: ImageViewState { get }

    /// Whether all frames of an animation are decoded before it is shown; `true` by default.
    var preloadsAllAnimationData: Bool { get }

    /// The area to which images are fitted if their load names no processor; `nil`, the default,
    /// keeps them at full size.
    var displayArea: DisplayArea? { get }

    /// Puts `view` on top of the image.
    func addOverlay(_ view: any KFCrossPlatformView, placement: OverlayPlacement)

    /// Removes a view added by `addOverlay`; does nothing if it is not there.
    func removeOverlay(_ view: any KFCrossPlatformView)

    /// Makes a spinner of this toolkit, not animating.
    func makeActivityView() -> any ActivityView

    /// Makes an image view of this toolkit, for an image that serves as indicator.
    func makeImageView() -> any KFCrossPlatformImageView

    /// Animates a change of the image.
    ///
    /// `changes` sets the image and must run exactly once; `completion` must run exactly once, when
    /// the animation has ended, with `false` if it was interrupted. By default both run at once.
    /// `transition` is never `.none`.
    func animate(
        _ transition: ImageTransition, changes: @escaping @MainActor () -> Void,
        completion: @escaping @MainActor (_ finished: Bool) -> Void)

    /// Interrupts the animation begun by `animate`, if it still runs: the image is shown as it is.
    /// Does nothing by default.
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

/// A view of some toolkit that an image view can carry on top of its image.
@MainActor public protocol KFCrossPlatformView: AnyObject {
    /// Whether the view is hidden.
    var isHidden: Bool { get set }
}

/// A view that indicates activity, such as a spinner.
@MainActor public protocol ActivityView: KFCrossPlatformView {
    /// Starts the animation.
    func startAnimating()
    /// Stops the animation.
    func stopAnimating()
}

/// The placement of a view on an image view: its centre is the image view's, moved by `offset`.
public struct OverlayPlacement: Hashable, Sendable {
    /// The size of the view.
    public var size: IndicatorSizeStrategy
    /// The offset of its centre from the image view's, in points.
    public var offset: CGPoint

    public init(size: IndicatorSizeStrategy = .full, offset: CGPoint = .zero) {
        self.size = size
        self.offset = offset
    }
}

/// An area of the screen to which images are fitted.
public struct DisplayArea: Hashable, Sendable {
    /// Width and height in points.
    public var size: CGSize
    /// The number of screen pixels per point.
    public var scale: CGFloat
    /// The placement of an image with other proportions; a distorted image covers the area.
    public var contentMode: ContentMode

    public init(size: CGSize, scale: CGFloat = 1, contentMode: ContentMode = .aspectFit) {
        self.size = size
        self.scale = scale
        self.contentMode = contentMode
    }
}

extension KingfisherParsedOptionsInfo {
    /// These options, with images reduced to fit `area`, unless they have a processor of their own.
    ///
    /// The original is cached on disk as well, for views of other sizes.
    func fitted(to area: DisplayArea?) -> KingfisherParsedOptionsInfo {
        guard let area, area.size.width > 0, area.size.height > 0,
            self.processor.identifier == DefaultImageProcessor.default.identifier
        else { return self }
        var options = self
        options.processor = FittingImageProcessor(
            size: area.size, mode: area.contentMode == .aspectFit ? .aspectFit : .aspectFill)
        options.scaleFactor = area.scale
        options.cacheOriginalImage = true
        return options
    }
}

/// Halcyon's state for an image view: its load, placeholder, indicator and failure.
///
/// Create one for each image view and keep it there; its content is private to Halcyon.
@MainActor public final class ImageViewState {
    let loader = ImageSlotLoader()
    private(set) var placeholder: (any Placeholder)?
    private(set) var indicatorType = IndicatorType.none
    private(set) var indicator: (any Indicator)?
    var failureView: (@MainActor (KingfisherError) -> any KFCrossPlatformView)?
    private var failureOnShow: (any KFCrossPlatformView)?
    private var retry: (@MainActor () -> Void)?

    public init() {}

    /// Replaces the placeholder on `view`; `nil` empties the view.
    func setPlaceholder(_ new: (any Placeholder)?, on view: any KFCrossPlatformImageView) {
        placeholder?.remove(from: view)
        placeholder = new
        if let new {
            new.add(to: view)
        } else {
            view.image = nil
        }
    }

    /// Shows that a load has failed; `retry` starts it again.
    func showFailure(
        _ error: KingfisherError, on view: any KFCrossPlatformImageView,
        retry: (@MainActor () -> Void)?
    ) {
        removeFailure(from: view)
        self.retry = retry
        guard let made = failureView?(error) else { return }
        // An image that was kept, or is shown for the failure, stays below.
        if placeholder != nil { setPlaceholder(nil, on: view) }
        view.addOverlay(made, placement: OverlayPlacement())
        failureOnShow = made
    }

    /// Removes the failure view; to be called at the start of another load.
    func removeFailure(from view: any KFCrossPlatformImageView) {
        retry = nil
        guard let shown = failureOnShow else { return }
        failureOnShow = nil
        view.removeOverlay(shown)
    }

    func retryFailedLoad() -> Bool {
        guard let retry else { return false }
        retry()
        return true
    }

    /// Replaces the indicator on `view`, hiding the new one.
    func setIndicator(_ type: IndicatorType, on view: any KFCrossPlatformImageView) {
        if let indicator { view.removeOverlay(indicator.view) }
        indicatorType = type
        indicator = type.indicator(for: view)
        guard let indicator else { return }
        indicator.view.isHidden = true
        view.addOverlay(
            indicator.view,
            placement: OverlayPlacement(
                size: indicator.sizeStrategy(in: view), offset: indicator.centerOffset))
    }
}

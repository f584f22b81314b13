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

/// An area of the screen that images are made for.
public struct DisplayArea: Hashable, Sendable {
    /// Width and height in points.
    public var size: CGSize
    /// Pixels of the screen per point.
    public var scale: CGFloat
    /// How an image of other proportions lies in it; one that is distorted covers it.
    public var contentMode: ContentMode

    public init(size: CGSize, scale: CGFloat = 1, contentMode: ContentMode = .aspectFit) {
        self.size = size
        self.scale = scale
        self.contentMode = contentMode
    }
}

extension KingfisherParsedOptionsInfo {
    /// These options, with images made as small as `area` allows, unless they say how images are made.
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

/// What Halcyon remembers about an image view: its load, placeholder, indicator and failure.
///
/// Make one for each image view and keep it there; its content is private to Halcyon.
@MainActor public final class ImageViewState {
    let loader = ImageSlotLoader()
    private(set) var placeholder: (any Placeholder)?
    private(set) var indicatorType = IndicatorType.none
    private(set) var indicator: (any Indicator)?
    /// Makes the view that is seen when a load has failed.
    var failureView: (@MainActor (KingfisherError) -> any KFCrossPlatformView)?
    private var failureOnShow: (any KFCrossPlatformView)?
    private var retry: (@MainActor () -> Void)?

    public init() {}

    /// Takes away the placeholder on `view` and puts another one there; `nil` empties the view.
    func setPlaceholder(_ new: (any Placeholder)?, on view: any KFCrossPlatformImageView) {
        placeholder?.remove(from: view)
        placeholder = new
        if let new {
            new.add(to: view)
        } else {
            view.image = nil
        }
    }

    /// Shows that a load has failed, which `retry` would begin anew.
    func showFailure(
        _ error: KingfisherError, on view: any KFCrossPlatformImageView,
        retry: (@MainActor () -> Void)?
    ) {
        removeFailure(from: view)
        self.retry = retry
        guard let made = failureView?(error) else { return }
        // An image that was kept or is shown for the failure stays below.
        if placeholder != nil { setPlaceholder(nil, on: view) }
        view.addOverlay(made, placement: OverlayPlacement())
        failureOnShow = made
    }

    /// To be called when another load begins.
    func removeFailure(from view: any KFCrossPlatformImageView) {
        retry = nil
        guard let shown = failureOnShow else { return }
        failureOnShow = nil
        view.removeOverlay(shown)
    }

    /// Begins the load anew that has failed; returns whether there is one.
    func retryFailedLoad() -> Bool {
        guard let retry else { return false }
        retry()
        return true
    }

    /// Takes away the indicator on `view` and puts another one there, hidden.
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

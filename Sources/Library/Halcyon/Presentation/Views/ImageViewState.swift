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

/// What Halcyon remembers about an image view: its load, placeholder and indicator.
///
/// Make one for each image view and keep it there; everything in it is Halcyon's own business.
@MainActor public final class ImageViewState {
    let loader = ImageSlotLoader()
    private(set) var placeholder: (any Placeholder)?
    private(set) var indicatorType = IndicatorType.none
    private(set) var indicator: (any Indicator)?

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

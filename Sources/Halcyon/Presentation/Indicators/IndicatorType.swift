public import Foundation

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

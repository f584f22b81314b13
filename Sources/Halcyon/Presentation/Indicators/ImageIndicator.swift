import Foundation

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

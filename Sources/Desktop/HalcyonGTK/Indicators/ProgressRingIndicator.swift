public import Foundation
public import Halcyon

/// A ring on an image view that shows how much of the image has been downloaded.
///
/// It turns until the total is known, and is seen as long as any load runs. One indicator serves one
/// image view:
///
/// ```swift
/// imageView.kf.indicatorType = .custom(indicator: ProgressRingIndicator())
/// ```
@MainActor public final class ProgressRingIndicator: Indicator {
    /// The ring.
    public let ring: ProgressRing
    /// Its width and height, in points.
    public let diameter: CGFloat
    public let centerOffset: CGPoint

    private var runningLoads = 0

    public init(diameter: CGFloat = ProgressRing.diameter, centerOffset: CGPoint = .zero) {
        ring = ProgressRing()
        self.diameter = diameter
        self.centerOffset = centerOffset
    }

    public var view: any IndicatorView { ring }

    public func startAnimatingView() {
        runningLoads += 1
        ring.fraction = nil
        ring.isHidden = false
    }

    public func stopAnimatingView() {
        runningLoads = max(0, runningLoads - 1)
        if runningLoads == 0 { ring.isHidden = true }
    }

    public func showProgress(received: Int64, total: Int64) {
        ring.showProgress(received: received, total: total)
    }

    public func sizeStrategy(in imageView: any KFCrossPlatformImageView) -> IndicatorSizeStrategy {
        .size(CGSize(width: diameter, height: diameter))
    }
}

/// A view that shows how much has arrived: as the placeholder of a `KFImage` it is told.
@MainActor public protocol ProgressView: View {
    /// Called as bytes arrive; the total is 0 until it is known.
    func showProgress(received: Int64, total: Int64)
}

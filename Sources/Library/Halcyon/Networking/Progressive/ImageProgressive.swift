public import Foundation

/// How a progressive JPEG is shown while it is downloaded.
///
/// Only views show it: a request without one decodes nothing before the download has ended. What is
/// shown meanwhile is never cached. A scan is shown when the next one begins; the last scan
/// completes the image itself. Greyscale and RGB files are shown, CMYK files only when complete.
public struct ImageProgressive: Sendable {
    /// Whether the picture is blurred while fewer than six scans have arrived. True by default.
    public let isBlur: Bool
    /// Whether scans that have been overtaken by later ones are skipped. True by default; otherwise
    /// each scan is shown.
    public let isFastestScan: Bool
    /// The least time between two updates, in seconds; 0 by default.
    public let scanInterval: TimeInterval

    /// Asked, on the main queue, what to do with each picture before it is shown.
    public let onImageUpdated = Delegate<KFCrossPlatformImage, UpdatingStrategy>()

    /// What to do with the picture of some scans.
    public enum UpdatingStrategy: Sendable {
        /// Show it.
        case `default`
        /// Leave what is on show.
        case keepCurrent
        /// Show this instead; `nil` shows nothing.
        case replace(KFCrossPlatformImage?)
    }

    /// The default values. This value is shared by all who use it, and so is its `onImageUpdated`.
    @available(*, deprecated, message: "Shares its `onImageUpdated` with everybody; use `init()`.")
    public static let `default` = ImageProgressive()

    /// Blurred, and only the latest scan each time.
    public init() {
        self.init(isBlur: true, isFastestScan: true, scanInterval: 0)
    }

    public init(isBlur: Bool, isFastestScan: Bool, scanInterval: TimeInterval) {
        self.isBlur = isBlur
        self.isFastestScan = isFastestScan
        self.scanInterval = scanInterval
    }
}

extension ImageProgressive {
    /// The radius, in pixels, of the blur while `scans` scans have begun; `nil` for none.
    func blurRadius(scans: Int) -> CGFloat? {
        isBlur && scans < 6 ? CGFloat(max(2, 14 - 4 * scans)) : nil
    }

    /// The least time between two updates.
    var interval: Duration {
        scanInterval > 0 ? .seconds(min(scanInterval, 1e9)) : .zero
    }
}

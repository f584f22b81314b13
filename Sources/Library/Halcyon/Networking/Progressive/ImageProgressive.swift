public import Foundation

/// The display options of a progressive JPEG during its download.
///
/// Only views show it: a request without a view decodes nothing before the download has ended.
/// Intermediate pictures are never cached. A scan is shown when the next one begins; the last scan
/// completes the image itself. Greyscale and RGB files are shown progressively, CMYK files only
/// when complete.
public struct ImageProgressive: Sendable {
    /// Whether the picture is blurred while fewer than six scans have arrived. True by default.
    public let isBlur: Bool
    /// Whether scans already followed by later ones are skipped. True by default; otherwise each
    /// scan is shown.
    public let isFastestScan: Bool
    /// The minimum time between two updates, in seconds; 0 by default.
    public let scanInterval: TimeInterval

    /// Called on the main queue before each picture is shown; returns the strategy for it.
    public let onImageUpdated = Delegate<KFCrossPlatformImage, UpdatingStrategy>()

    /// The treatment of an intermediate picture.
    public enum UpdatingStrategy: Sendable {
        /// Shows the picture.
        case `default`
        /// Keeps the current picture.
        case keepCurrent
        /// Shows this image instead; `nil` shows nothing.
        case replace(KFCrossPlatformImage?)
    }

    /// The default values. The value and its `onImageUpdated` are shared by all users.
    @available(*, deprecated, message: "Shares its `onImageUpdated` with everybody; use `init()`.")
    public static let `default` = ImageProgressive()

    /// Blurred, and always only the latest scan.
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

    var interval: Duration {
        scanInterval > 0 ? .seconds(min(scanInterval, 1e9)) : .zero
    }
}

public import Foundation

/// Placeholders made of hashes, for whatever takes one: `.placeholder(.thumbHash("2PoNNJpwd3d+eId3iIhzjwcHiA=="))`,
/// `imageView.kf.setImage(with: url, placeholder: .blurHash("LxH2cX2swxX8l}WDjte;gJfjfQfj"))`.
extension Placeholder where Self == KFCrossPlatformImage {
    /// The picture that a BlurHash describes; `nil` for a text that is none, see ``BlurHash/init(_:)``.
    ///
    /// `size`, in points, makes it as large as the image it stands for, so that nothing moves when that
    /// comes. `nil`, the default, makes it small, for views that have a size.
    public static func blurHash(_ text: String, size: CGSize? = nil) -> KFCrossPlatformImage? {
        // A placeholder is left out rather than reported.
        (try? BlurHash(text)).map { KFCrossPlatformImage($0, size: size) }
    }

    /// The picture that a ThumbHash, in base 64, describes, in its own proportions; `nil` for a text that
    /// is none, see ``ThumbHash``.
    ///
    /// `size` is that of a BlurHash; its longer side counts.
    public static func thumbHash(_ text: String, size: CGSize? = nil) -> KFCrossPlatformImage? {
        // A placeholder is left out rather than reported.
        (try? ThumbHash(text)).map { KFCrossPlatformImage($0, size: size) }
    }
}

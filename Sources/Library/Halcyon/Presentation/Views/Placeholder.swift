public import Foundation

/// What an image view shows while its image is being loaded.
///
/// Images are placeholders. A view of the toolkit becomes one by an empty extension.
public protocol Placeholder {
    /// Shows this placeholder in `imageView`.
    @MainActor func add(to imageView: any KFCrossPlatformImageView)
    /// Takes this placeholder away from `imageView`.
    @MainActor func remove(from imageView: any KFCrossPlatformImageView)
}

extension KFCrossPlatformImage: Placeholder {
    /// Shows this image in `imageView`.
    @MainActor public func add(to imageView: any KFCrossPlatformImageView) {
        imageView.image = self
    }

    /// Empties `imageView`.
    @MainActor public func remove(from imageView: any KFCrossPlatformImageView) {
        imageView.image = nil
    }

    /// Shows this image in `holder`.
    @MainActor public func add(to holder: any KingfisherHasImageComponent) {
        holder.image = self
    }

    /// Empties `holder`.
    @MainActor public func remove(from holder: any KingfisherHasImageComponent) {
        holder.image = nil
    }
}

extension Placeholder where Self: KFCrossPlatformView {
    /// Puts this view over the whole of `imageView`.
    @MainActor public func add(to imageView: any KFCrossPlatformImageView) {
        imageView.addOverlay(self, placement: OverlayPlacement())
    }

    /// Takes this view away from `imageView`.
    @MainActor public func remove(from imageView: any KFCrossPlatformImageView) {
        imageView.removeOverlay(self)
    }
}

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

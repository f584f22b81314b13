public import Foundation

/// The content of an image view during a load.
///
/// Images are placeholders. A view of the toolkit becomes one by an empty extension.
public protocol Placeholder {
    /// Shows this placeholder in `imageView`.
    @MainActor func add(to imageView: any KFCrossPlatformImageView)
    /// Removes this placeholder from `imageView`.
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

    /// Removes this view from `imageView`.
    @MainActor public func remove(from imageView: any KFCrossPlatformImageView) {
        imageView.removeOverlay(self)
    }
}

/// Placeholders made of hashes, for whatever takes one: `.placeholder(.thumbHash("2PoNNJpwd3d+eId3iIhzjwcHiA=="))`,
/// `imageView.kf.setImage(with: url, placeholder: .blurHash("LxH2cX2swxX8l}WDjte;gJfjfQfj"))`.
extension Placeholder where Self == KFCrossPlatformImage {
    /// Makes the picture of a BlurHash; `nil` for an invalid text, see ``BlurHash/init(_:)``.
    ///
    /// `size`, in points, is that of the image it stands for, so that the layout does not change
    /// when that arrives. `nil`, the default, makes it small, for views with a size of their own.
    public static func blurHash(_ text: String, size: CGSize? = nil) -> KFCrossPlatformImage? {
        // An invalid placeholder is left out rather than reported.
        (try? BlurHash(text)).map { KFCrossPlatformImage($0, size: size) }
    }

    /// Makes the picture of a ThumbHash in base 64, in its own proportions; `nil` for an invalid
    /// text, see ``ThumbHash``.
    ///
    /// `size` is as for a BlurHash; only its longer side counts.
    public static func thumbHash(_ text: String, size: CGSize? = nil) -> KFCrossPlatformImage? {
        // An invalid placeholder is left out rather than reported.
        (try? ThumbHash(text)).map { KFCrossPlatformImage($0, size: size) }
    }
}

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

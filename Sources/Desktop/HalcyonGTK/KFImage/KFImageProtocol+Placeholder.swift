public import Foundation
public import Halcyon

extension KFImageProtocol {
    /// Sets the placeholder image, which fills the view in its own proportions.
    ///
    /// `nil` keeps the previous placeholder.
    public func placeholder(_ image: KFCrossPlatformImage?) -> Self {
        guard let image else { return self }
        return placeholder {
            let view = ImageView(image: image)
            view.contentMode = .fill
            return view
        }
    }

    /// Sets the picture of a BlurHash as placeholder. An invalid text keeps the previous
    /// placeholder. `size` reserves the space of the expected image.
    public func placeholder(blurHash text: String, size: CGSize? = nil) -> Self {
        placeholder(.blurHash(text, size: size))
    }

    /// Sets the picture of a ThumbHash, in base 64, as placeholder. An invalid text keeps the
    /// previous placeholder. `size` reserves the space of the expected image.
    public func placeholder(thumbHash text: String, size: CGSize? = nil) -> Self {
        placeholder(.thumbHash(text, size: size))
    }
}

public import Foundation
public import Halcyon

extension KFImageProtocol {
    /// Sets the image that is seen until the loaded one comes; it covers the place, in its proportions.
    ///
    /// `nil` leaves what was set before.
    public func placeholder(_ image: KFCrossPlatformImage?) -> Self {
        guard let image else { return self }
        return placeholder {
            let view = ImageView(image: image)
            view.contentMode = .fill
            return view
        }
    }

    /// Sets what is seen until the image comes: the picture that a BlurHash describes. A text that is none
    /// leaves what was set before. `size` makes the place as large as the image will be.
    public func placeholder(blurHash text: String, size: CGSize? = nil) -> Self {
        placeholder(.blurHash(text, size: size))
    }

    /// Sets what is seen until the image comes: the picture that a ThumbHash, in base 64, describes. A text
    /// that is none leaves what was set before. `size` makes the place as large as the image will be.
    public func placeholder(thumbHash text: String, size: CGSize? = nil) -> Self {
        placeholder(.thumbHash(text, size: size))
    }
}

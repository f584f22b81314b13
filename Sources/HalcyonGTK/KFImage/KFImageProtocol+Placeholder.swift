public import Halcyon

extension KFImageProtocol {
    /// Sets the image that is seen until the loaded one comes; it covers the place, in its proportions.
    ///
    /// `nil` leaves what was set before. Images made of hashes serve well:
    /// `.placeholder(.blurHash(hash, size: size))` makes the place as large as the image will be.
    public func placeholder(_ image: KFCrossPlatformImage?) -> Self {
        guard let image else { return self }
        return placeholder {
            let view = ImageView(image: image)
            view.contentMode = .fill
            return view
        }
    }
}

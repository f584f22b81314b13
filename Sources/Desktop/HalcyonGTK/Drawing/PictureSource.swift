import Halcyon

/// The picture of an image, as soon as its pixels are decoded.
///
/// An image with pixels in memory has its picture at once; any other is rendered on the decoding
/// threads first.
@MainActor final class PictureSource {
    var image: KFCrossPlatformImage? {
        didSet { if image !== oldValue { imageChanged() } }
    }

    /// The picture of `image`; `nil` as long as it is being rendered, or when that has failed.
    private(set) var picture: Picture?

    private let pictureChanged: @MainActor () -> Void

    init(pictureChanged: @escaping @MainActor () -> Void) {
        self.pictureChanged = pictureChanged
    }

    private func imageChanged() {
        guard let image else { return show(nil) }
        // Pixels in memory are handed over without work.
        if image.isRendered { return show(try? Picture(image.bitmap(), scale: image.scale)) }
        show(nil)
        Task { [weak self] in
            // An image that cannot be rendered is not shown; its loader has reported the error.
            let rendered = try? await image.rendered()
            guard let self, self.image === image else { return }
            show((try? rendered?.bitmap()).map { Picture($0, scale: image.scale) })
        }
    }

    private func show(_ picture: Picture?) {
        let old = self.picture
        self.picture = picture
        if picture != old { pictureChanged() }
    }
}

/// A part of an object that can do nothing but hold an image, with the placeholder of a load.
@MainActor struct ImageComponentSlot<Holder: AnyObject>: ImageSlot {
    weak var holder: Holder?
    let placeholder: KFCrossPlatformImage?
    let get: @MainActor (Holder) -> KFCrossPlatformImage?
    let set: @MainActor (Holder, KFCrossPlatformImage?, KingfisherParsedOptionsInfo) -> Void

    var isEmpty: Bool { holder.flatMap(get) == nil }

    func showPlaceholder(_ options: KingfisherParsedOptionsInfo) {
        put(placeholder, options)
    }

    func preview(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) {
        put(image, options)
    }

    func show(_ image: KFCrossPlatformImage, options: KingfisherParsedOptionsInfo) {
        put(image, options)
    }

    func fail(with error: KingfisherError, options: KingfisherParsedOptionsInfo) {
        if let image = options.onFailureImage { put(image, options) }
    }

    private func put(_ image: KFCrossPlatformImage?, _ options: KingfisherParsedOptionsInfo) {
        if let holder { set(holder, image, options) }
    }
}

/// An image view with the placeholder of a load.
@MainActor struct ImageViewSlot<View: KFCrossPlatformImageView>: ImageSlot {
    weak var view: View?
    let placeholder: (any Placeholder)?
    /// Begins the load anew.
    var retry: (@MainActor () -> Void)?

    var isThere: Bool { view != nil }

    var isEmpty: Bool {
        guard let view else { return true }
        return view.image == nil && view.imageViewState.placeholder == nil
    }

    var preloadsAllAnimationData: Bool { view?.preloadsAllAnimationData ?? false }

    func showPlaceholder(_ options: KingfisherParsedOptionsInfo) {
        if let view { view.imageViewState.removeFailure(from: view) }
        setPlaceholder(placeholder)
    }

    func beginActivity() -> @MainActor () -> Void {
        if let view { view.imageViewState.removeFailure(from: view) }
        let indicator = view?.imageViewState.indicator
        indicator?.startAnimatingView()
        return { indicator?.stopAnimatingView() }
    }

    var showsProgress: Bool { view?.imageViewState.indicator != nil }

    func showProgress(received: Int64, total: Int64) {
        view?.imageViewState.indicator?.showProgress(received: received, total: total)
    }

    func preview(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo) {
        setPlaceholder(nil)
        view?.image = image
    }

    func show(_ image: KFCrossPlatformImage, options: KingfisherParsedOptionsInfo) {
        setPlaceholder(nil)
        view?.image = image
    }

    func animate(_ change: ImageChange) {
        guard let view else {
            change.perform { _ in }
            return change.end()
        }
        let transition = change.options.transition
        setPlaceholder(nil)
        view.animate(transition) { [weak view] in
            change.perform { image in
                if let view { transition.apply(image, to: view) }
            }
        } completion: { finished in
            transition.ended(finished: finished)
            change.end()
        }
    }

    func fail(with error: KingfisherError, options: KingfisherParsedOptionsInfo) {
        if let image = options.onFailureImage {
            setPlaceholder(nil)
            view?.image = image
        }
        // A load that was cancelled shows no failure.
        guard let view, !error.isCancelled else { return }
        view.imageViewState.showFailure(error, on: view, retry: retry)
    }

    private func setPlaceholder(_ placeholder: (any Placeholder)?) {
        guard let view else { return }
        view.imageViewState.setPlaceholder(placeholder, on: view)
    }
}

/// A part of an object that can do nothing but hold an image, with the placeholder of a load.
@MainActor struct ImageComponentSlot<Holder: AnyObject>: ImageSlot {
    weak var holder: Holder?
    let placeholder: KFCrossPlatformImage?
    let get: @MainActor (Holder) -> KFCrossPlatformImage?
    let set: @MainActor (Holder, KFCrossPlatformImage?, KingfisherParsedOptionsInfo) -> Void

    var isThere: Bool { holder != nil }

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

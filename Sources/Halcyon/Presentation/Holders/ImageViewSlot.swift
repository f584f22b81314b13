/// An image view with the placeholder of a load.
@MainActor struct ImageViewSlot<View: KFCrossPlatformImageView>: ImageSlot {
    weak var view: View?
    let placeholder: (any Placeholder)?

    var isEmpty: Bool {
        guard let view else { return true }
        return view.image == nil && view.imageViewState.placeholder == nil
    }

    var preloadsAllAnimationData: Bool { view?.preloadsAllAnimationData ?? false }

    func showPlaceholder(_ options: KingfisherParsedOptionsInfo) {
        setPlaceholder(placeholder)
    }

    func beginActivity() -> @MainActor () -> Void {
        let indicator = view?.imageViewState.indicator
        indicator?.startAnimatingView()
        return { indicator?.stopAnimatingView() }
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
        guard let image = options.onFailureImage else { return }
        setPlaceholder(nil)
        view?.image = image
    }

    private func setPlaceholder(_ placeholder: (any Placeholder)?) {
        guard let view else { return }
        view.imageViewState.setPlaceholder(placeholder, on: view)
    }
}

@MainActor extension KingfisherWrapper where Base: KFCrossPlatformImageView {
    /// Loads the image of `source` and shows it.
    ///
    /// Uses `KingfisherManager.shared`, its default options and then `options`. A load that another one
    /// follows goes on, so that its image is cached, but completes with `notCurrentSourceTask`.
    /// - Parameters:
    ///   - source: `nil` shows the placeholder and completes with `emptySource` at once.
    ///   - placeholder: Shown until the image comes; `nil` empties the view.
    ///   - options: They win over the default options.
    ///   - progressBlock: Called as bytes arrive, when their total is known.
    ///   - completionHandler: Called exactly once; before this returns for an image in memory.
    /// - Returns: The running load; `nil` when the image comes from a cache, or when no load has begun
    ///   yet.
    @discardableResult
    public func setImage(
        with source: Source?, placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: source, placeholder: placeholder,
            parsedOptions: KingfisherParsedOptionsInfo(ofView: options),
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads an image and shows it; see the form for sources.
    @discardableResult
    public func setImage(
        with source: Source?, placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: source, placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// Loads an image and shows it; see the form for sources.
    @discardableResult
    public func setImage(
        with resource: (any Resource)?, placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: resource?.convertToSource(), placeholder: placeholder, options: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads an image and shows it; see the form for sources.
    @discardableResult
    public func setImage(
        with resource: (any Resource)?, placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: resource?.convertToSource(), placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// Loads an image and shows it; see the form for sources.
    @discardableResult
    public func setImage(
        with provider: (any ImageDataProvider)?, placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: provider?.convertToSource(), placeholder: placeholder, options: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads an image and shows it; see the form for sources.
    @discardableResult
    public func setImage(
        with provider: (any ImageDataProvider)?, placeholder: (any Placeholder)? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: provider?.convertToSource(), placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    func setImage(
        with source: Source?, placeholder: (any Placeholder)?,
        parsedOptions: KingfisherParsedOptionsInfo, progressBlock: DownloadProgressBlock?,
        completionHandler: ImageSettingCompletion?
    ) -> DownloadTask? {
        let slot = ImageViewSlot(view: base, placeholder: placeholder) { [weak base] in
            _ = base?.kf.setImage(
                with: source, placeholder: placeholder, parsedOptions: parsedOptions,
                progressBlock: progressBlock, completionHandler: nil)
        }
        return base.imageViewState.loader.load(
            source, into: slot, options: parsedOptions.fitted(to: base.displayArea),
            progress: progressBlock, completion: completionHandler)
    }

    /// Cancels what the view waits for; that completes with an error. Interrupts a transition.
    public func cancelDownloadTask() {
        base.imageViewState.loader.cancel()
        base.endAnimation()
    }

    /// The number of the load the view waits for; `nil` when it waits for none.
    public var taskIdentifier: Source.Identifier.Value? {
        base.imageViewState.loader.taskIdentifier
    }

    /// The indicator shown during loads; `.none` by default. Setting it replaces the indicator's view.
    public var indicatorType: IndicatorType {
        get { base.imageViewState.indicatorType }
        nonmutating set { base.imageViewState.setIndicator(newValue, on: base) }
    }

    /// The indicator itself.
    public var indicator: (any Indicator)? { base.imageViewState.indicator }

    /// Makes the view that lies over the whole of the image view when a load has failed, in place of the
    /// placeholder; the next load takes it away. `nil`, the default, makes none, as does a load that was
    /// cancelled.
    public var failureView: (@MainActor (KingfisherError) -> any KFCrossPlatformView)? {
        get { base.imageViewState.failureView }
        nonmutating set { base.imageViewState.failureView = newValue }
    }

    /// Loads again what could not be loaded, with the same placeholder, options and progress block. The
    /// completion handler has been called and is not called again.
    ///
    /// - Returns: Whether the last load has failed; a cancelled one has not.
    @discardableResult
    public func retryFailedLoad() -> Bool {
        base.imageViewState.retryFailedLoad()
    }

    /// The placeholder on show.
    public var placeholder: (any Placeholder)? { base.imageViewState.placeholder }
}

/// An image view with the placeholder of a load.
@MainActor struct ImageViewSlot<View: KFCrossPlatformImageView>: ImageSlot {
    weak var view: View?
    let placeholder: (any Placeholder)?
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

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
        options: KingfisherOptionsInfo? = nil,
        completionHandler: ImageSettingCompletion? = nil
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
        options: KingfisherOptionsInfo? = nil,
        completionHandler: ImageSettingCompletion? = nil
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
        options: KingfisherOptionsInfo? = nil,
        completionHandler: ImageSettingCompletion? = nil
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
            progress: progressBlock,
            completion: completionHandler)
    }

    /// Cancels what the view waits for; that completes with an error. Interrupts a transition.
    public func cancelDownloadTask() {
        base.imageViewState.loader.cancel()
        base.endAnimation()
    }
}

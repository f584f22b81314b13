@MainActor extension KingfisherWrapper where Base: KFCrossPlatformButton {
    /// Loads the image of `source` and shows it as the background for a state.
    ///
    /// As `setImage(with:placeholder:options:progressBlock:completionHandler:)` of an object that
    /// holds one image, for this slot alone.
    @discardableResult
    public func setBackgroundImage(
        with source: Source?, for state: ControlState,
        placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setBackgroundImage(
            with: source, for: state, placeholder: placeholder,
            parsedOptions: KingfisherParsedOptionsInfo(ofView: options),
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the background for a state; see the form for sources.
    @discardableResult
    public func setBackgroundImage(
        with source: Source?, for state: ControlState,
        placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setBackgroundImage(
            with: source, for: state, placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the background for a state; see the form for sources.
    @discardableResult
    public func setBackgroundImage(
        with resource: (any Resource)?, for state: ControlState,
        placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setBackgroundImage(
            with: resource?.convertToSource(), for: state, placeholder: placeholder,
            options: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the background for a state; see the form for sources.
    @discardableResult
    public func setBackgroundImage(
        with resource: (any Resource)?, for state: ControlState,
        placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setBackgroundImage(
            with: resource?.convertToSource(), for: state, placeholder: placeholder,
            options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    func setBackgroundImage(
        with source: Source?, for state: ControlState, placeholder: KFCrossPlatformImage?,
        parsedOptions: KingfisherParsedOptionsInfo, progressBlock: DownloadProgressBlock?,
        completionHandler: ImageSettingCompletion?
    ) -> DownloadTask? {
        let slot = ImageComponentSlot(
            holder: base, placeholder: placeholder, get: { $0.backgroundImage(for: state) },
            set: { button, image, _ in button.setBackgroundImage(image, for: state) })
        return SlotTable.shared.loader(of: base, .stateBackground(state)).load(
            source, into: slot, options: parsedOptions, progress: progressBlock,
            completion: completionHandler)
    }

    /// The number of the load the background for `state` waits for; `nil` when it waits for none.
    public func backgroundTaskIdentifier(for state: ControlState) -> Source.Identifier.Value? {
        SlotTable.shared.runningLoader(of: base, .stateBackground(state))?.taskIdentifier
    }

    /// Cancels what the backgrounds for all states wait for; that completes with errors.
    public func cancelBackgroundImageDownloadTask() {
        for loader in SlotTable.shared.runningLoaders(of: base, where: \.isStateBackground) {
            loader.cancel()
        }
    }

    /// Cancels what the background for `state` waits for; that completes with an error.
    public func cancelBackgroundImageDownloadTask(for state: ControlState) {
        SlotTable.shared.runningLoader(of: base, .stateBackground(state))?.cancel()
    }
}

@MainActor extension KingfisherWrapper where Base: KFCrossPlatformButton {
    /// Loads the image of `source` and shows it as the image for a state.
    ///
    /// As `setImage(with:placeholder:options:progressBlock:completionHandler:)` of an object that
    /// holds one image, for this slot alone.
    @discardableResult
    public func setImage(
        with source: Source?, for state: ControlState,
        placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: source, for: state, placeholder: placeholder,
            parsedOptions: KingfisherParsedOptionsInfo(ofView: options),
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the image for a state; see the form for sources.
    @discardableResult
    public func setImage(
        with source: Source?, for state: ControlState,
        placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: source, for: state, placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the image for a state; see the form for sources.
    @discardableResult
    public func setImage(
        with resource: (any Resource)?, for state: ControlState,
        placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
        progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: resource?.convertToSource(), for: state, placeholder: placeholder,
            options: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the image for a state; see the form for sources.
    @discardableResult
    public func setImage(
        with resource: (any Resource)?, for state: ControlState,
        placeholder: KFCrossPlatformImage? = nil, options: KingfisherOptionsInfo? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: resource?.convertToSource(), for: state, placeholder: placeholder,
            options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    func setImage(
        with source: Source?, for state: ControlState, placeholder: KFCrossPlatformImage?,
        parsedOptions: KingfisherParsedOptionsInfo, progressBlock: DownloadProgressBlock?,
        completionHandler: ImageSettingCompletion?
    ) -> DownloadTask? {
        let slot = ImageComponentSlot(
            holder: base, placeholder: placeholder, get: { $0.image(for: state) },
            set: { button, image, _ in button.setImage(image, for: state) })
        return SlotTable.shared.loader(of: base, .stateImage(state)).load(
            source, into: slot, options: parsedOptions, progress: progressBlock,
            completion: completionHandler)
    }

    /// The number of the load the image for `state` waits for; `nil` when it waits for none.
    public func taskIdentifier(for state: ControlState) -> Source.Identifier.Value? {
        SlotTable.shared.runningLoader(of: base, .stateImage(state))?.taskIdentifier
    }

    /// Cancels what the images for all states wait for; that completes with errors.
    public func cancelImageDownloadTask() {
        for loader in SlotTable.shared.runningLoaders(of: base, where: \.isStateImage) {
            loader.cancel()
        }
    }

    /// Cancels what the image for `state` waits for; that completes with an error.
    public func cancelImageDownloadTask(for state: ControlState) {
        SlotTable.shared.runningLoader(of: base, .stateImage(state))?.cancel()
    }
}

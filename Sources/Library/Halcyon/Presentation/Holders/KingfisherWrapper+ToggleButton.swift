@MainActor extension KingfisherWrapper where Base: KFCrossPlatformToggleButton {
    /// Loads the image of `source` and shows it as the alternate image.
    ///
    /// As `setImage(with:placeholder:options:progressBlock:completionHandler:)` of an image view, for
    /// this slot alone.
    @discardableResult
    public func setAlternateImage(
        with source: Source?, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        load(
            source, into: .alternateImage, placeholder: placeholder,
            options: KingfisherParsedOptionsInfo(ofView: options), progress: progressBlock,
            completion: completionHandler)
    }

    /// Loads an image and shows it as the alternate image; see the form for sources.
    @discardableResult
    public func setAlternateImage(
        with source: Source?, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setAlternateImage(
            with: source, placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the alternate image; see the form for sources.
    @discardableResult
    public func setAlternateImage(
        with resource: (any Resource)?, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setAlternateImage(
            with: resource?.convertToSource(), placeholder: placeholder, options: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the alternate image; see the form for sources.
    @discardableResult
    public func setAlternateImage(
        with resource: (any Resource)?, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setAlternateImage(
            with: resource?.convertToSource(), placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// The number of the load the alternate image waits for; `nil` when it waits for none.
    public var alternateTaskIdentifier: Source.Identifier.Value? {
        SlotTable.shared.runningLoader(of: base, .alternateImage)?.taskIdentifier
    }

    /// Cancels what the image waits for; that completes with an error.
    public func cancelImageDownloadTask() {
        cancelDownloadTask()
    }

    /// Cancels what the alternate image waits for; that completes with an error.
    public func cancelAlternateImageDownloadTask() {
        SlotTable.shared.runningLoader(of: base, .alternateImage)?.cancel()
    }
}

extension ImagePart where Holder: KFCrossPlatformToggleButton {
    static var alternateImage: Self {
        Self(
            slot: .alternateImage, get: { $0.alternateImage },
            set: { button, image, _ in button.alternateImage = image })
    }
}

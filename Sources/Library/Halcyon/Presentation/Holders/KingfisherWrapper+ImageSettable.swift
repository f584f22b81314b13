/// An object that can be given an image: a menu item, a toolbar button, a texture of a game.
///
/// It gets `kf.setImage(with:)` without placeholder views, indicators and transitions.
public protocol KingfisherImageSettable: KingfisherCompatible {
    /// Makes the object hold `image`; `nil` empties it. `options` are those of the load.
    @MainActor func setImage(_ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo)

    /// The image the object holds, if it can tell.
    @MainActor func getImage() -> KFCrossPlatformImage?
}

/// An object with an `image`.
public protocol KingfisherHasImageComponent: KingfisherImageSettable {
    /// The image the object holds.
    @MainActor var image: KFCrossPlatformImage? { get set }
}

extension KingfisherHasImageComponent {
    @MainActor public func setImage(
        _ image: KFCrossPlatformImage?, options: KingfisherParsedOptionsInfo
    ) {
        self.image = image
    }

    @MainActor public func getImage() -> KFCrossPlatformImage? { image }
}

@MainActor extension KingfisherWrapper where Base: KingfisherImageSettable {
    /// Loads the image of `source` and shows it.
    ///
    /// As `setImage(with:placeholder:options:progressBlock:completionHandler:)` of an image view.
    @discardableResult
    public func setImage(
        with source: Source?, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        load(
            source, into: .image, placeholder: placeholder,
            options: KingfisherParsedOptionsInfo(ofView: options), progress: progressBlock,
            completion: completionHandler)
    }

    /// Loads an image and shows it; see the form for sources.
    @discardableResult
    public func setImage(
        with source: Source?, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: source, placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// Loads an image and shows it; see the form for sources.
    @discardableResult
    public func setImage(
        with resource: (any Resource)?, placeholder: KFCrossPlatformImage? = nil,
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
        with resource: (any Resource)?, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: resource?.convertToSource(), placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// Loads an image and shows it; see the form for sources.
    @discardableResult
    public func setImage(
        with provider: (any ImageDataProvider)?, placeholder: KFCrossPlatformImage? = nil,
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
        with provider: (any ImageDataProvider)?, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        setImage(
            with: provider?.convertToSource(), placeholder: placeholder, options: options,
            progressBlock: nil, completionHandler: completionHandler)
    }

    /// The number of the load the object waits for; `nil` when it waits for none.
    public var taskIdentifier: Source.Identifier.Value? {
        SlotTable.shared.runningLoader(of: base, .image)?.taskIdentifier
    }

    /// Cancels what the object waits for; that completes with an error.
    public func cancelDownloadTask() {
        SlotTable.shared.runningLoader(of: base, .image)?.cancel()
    }
}

extension ImagePart where Holder: KingfisherImageSettable {
    static var image: Self {
        Self(slot: .image, get: { $0.getImage() }, set: { $0.setImage($1, options: $2) })
    }
}

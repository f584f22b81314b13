public import Foundation

extension KF {
    /// A builder for an image from `source`.
    public static func source(_ source: Source?) -> Builder {
        Builder(source: source)
    }

    /// A builder for an image from `resource`; a file URL is read as a file.
    public static func resource(_ resource: (any Resource)?) -> Builder {
        source(resource?.convertToSource())
    }

    /// A builder for an image at `url`; a file URL is read as a file.
    ///
    /// The image is cached under `cacheKey`, by default under the URL's own key.
    public static func url(_ url: URL?, cacheKey: String? = nil) -> Builder {
        source(url?.convertToSource(overrideCacheKey: cacheKey))
    }

    /// A builder for an image whose bytes `provider` gives.
    public static func dataProvider(_ provider: (any ImageDataProvider)?) -> Builder {
        source(provider?.convertToSource())
    }

    /// A builder for an image of which `data` is the file.
    public static func data(_ data: Data?, cacheKey: String) -> Builder {
        dataProvider(data.map { RawImageDataProvider(data: $0, cacheKey: cacheKey) })
    }

    /// Collects what is to be loaded, how, and what shows it; `set(to:)` and its siblings begin.
    ///
    /// The setters change the builder itself.
    @MainActor public final class Builder {
        let source: Source?
        var placeholder: (any Placeholder)?

        public var options: KingfisherParsedOptionsInfo
        public let onFailureDelegate = Delegate<KingfisherError, Void>()
        public let onSuccessDelegate = Delegate<RetrieveImageResult, Void>()
        public let onProgressDelegate = Delegate<(Int64, Int64), Void>()

        /// Starts from the shared manager's default options as they are now.
        nonisolated init(source: Source?) {
            self.source = source
            options = KingfisherParsedOptionsInfo(KingfisherManager.shared.defaultOptions)
        }
    }
}

extension KF.Builder: KFOptionSetter {}

extension KF.Builder {
    /// Sets what is shown until the image comes. Only image views take one that is not an image.
    public func placeholder(_ placeholder: (any Placeholder)?) -> Self {
        setting { $0.placeholder = placeholder }
    }

    /// Sets the image that is shown until the loaded one comes.
    public func placeholder(_ image: KFCrossPlatformImage?) -> Self {
        setting { $0.placeholder = image }
    }

    /// Sets what is shown until the image comes: the picture that a BlurHash describes. Nothing is shown for
    /// a text that is none. `size` is that of ``Placeholder/blurHash(_:size:)``.
    public func placeholder(blurHash text: String, size: CGSize? = nil) -> Self {
        placeholder(.blurHash(text, size: size))
    }

    /// Sets what is shown until the image comes: the picture that a ThumbHash describes. Nothing is shown for
    /// a text that is none. `size` is that of ``Placeholder/thumbHash(_:size:)``.
    public func placeholder(thumbHash text: String, size: CGSize? = nil) -> Self {
        placeholder(.thumbHash(text, size: size))
    }

    /// Sets how an image view shows the image, unless it comes from a cache.
    public func transition(_ transition: ImageTransition) -> Self {
        setting(\.transition, to: transition)
    }

    /// Lets an image view fade the image in, unless it comes from a cache.
    ///
    /// - Parameter duration: In seconds.
    public func fade(duration: TimeInterval) -> Self {
        transition(.fade(duration))
    }

    /// Whether to leave what is shown as it is, without the placeholder, until the image comes.
    public func keepCurrentImageWhileLoading(_ enabled: Bool = true) -> Self {
        setting(\.keepCurrentImageWhileLoading, to: enabled)
    }

    /// Whether the load is cancelled when the view is given something else to show, unless somebody else
    /// waits for the download; see `KingfisherOptionsInfoItem.cancelWhenSuperseded`.
    public func cancelWhenSuperseded(_ enabled: Bool = true) -> Self {
        setting(\.cancelWhenSuperseded, to: enabled)
    }

    /// Whether to use only the first frame of an animation.
    public func onlyLoadFirstFrame(_ enabled: Bool = true) -> Self {
        setting(\.onlyLoadFirstFrame, to: enabled)
    }
}

@MainActor extension KF.Builder {
    /// Loads the image and shows it in `imageView`.
    @discardableResult
    public func set<View: KFCrossPlatformImageView>(to imageView: View) -> DownloadTask? {
        imageView.kf.setImage(
            with: source, placeholder: placeholder, parsedOptions: options,
            progressBlock: progressBlock, completionHandler: completionHandler)
    }

    /// Loads the image and gives it to `holder`.
    @discardableResult
    public func set<Holder: KingfisherImageSettable>(to holder: Holder) -> DownloadTask? {
        load(into: holder, .image)
    }

    /// Loads the image and gives it to `button` for `state`.
    @discardableResult
    public func set<Button: KFCrossPlatformButton>(
        to button: Button, for state: ControlState
    ) -> DownloadTask? {
        load(into: button, .image(state))
    }

    /// Loads the image and gives it to `button` as background for `state`.
    @discardableResult
    public func setBackground<Button: KFCrossPlatformButton>(
        to button: Button, for state: ControlState
    ) -> DownloadTask? {
        load(into: button, .background(state))
    }

    /// Loads the image and gives it to `button` as alternate image.
    @discardableResult
    public func setAlternative<Button: KFCrossPlatformToggleButton>(
        to button: Button
    ) -> DownloadTask? {
        load(into: button, .alternateImage)
    }

    private func load<Holder: KingfisherCompatible>(
        into holder: Holder, _ part: ImagePart<Holder>
    ) -> DownloadTask? {
        holder.kf.load(
            source, into: part, placeholder: placeholder as? KFCrossPlatformImage,
            options: options, progress: progressBlock, completion: completionHandler)
    }

    private var progressBlock: DownloadProgressBlock? {
        guard onProgressDelegate.isSet else { return nil }
        let delegate = onProgressDelegate
        return { delegate.call(($0, $1)) }
    }

    private var completionHandler: ImageSettingCompletion {
        let (success, failure) = (onSuccessDelegate, onFailureDelegate)
        return { result in
            switch result {
            case .success(let value): success.call(value)
            case .failure(let error): failure.call(error)
            }
        }
    }
}

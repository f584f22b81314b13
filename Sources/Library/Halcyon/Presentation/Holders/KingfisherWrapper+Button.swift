/// The state of a button, in which it may show another image than in others.
public struct ControlState: OptionSet, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// Nothing in particular.
    public static let normal: ControlState = []
    /// Pressed.
    public static let highlighted = ControlState(rawValue: 1 << 0)
    /// Not to be used.
    public static let disabled = ControlState(rawValue: 1 << 1)
    /// Switched on.
    public static let selected = ControlState(rawValue: 1 << 2)
    /// Has the keyboard's focus.
    public static let focused = ControlState(rawValue: 1 << 3)
}

/// A button with an image and a background for each of its states.
///
/// Each of them is a slot of its own: loads of different slots are independent.
@MainActor public protocol KFCrossPlatformButton: KingfisherCompatible {
    /// The image set for exactly `state`.
    func image(for state: ControlState) -> KFCrossPlatformImage?
    /// Sets the image for `state`; `nil` takes it away.
    func setImage(_ image: KFCrossPlatformImage?, for state: ControlState)
    /// The background set for exactly `state`.
    func backgroundImage(for state: ControlState) -> KFCrossPlatformImage?
    /// Sets the background for `state`; `nil` takes it away.
    func setBackgroundImage(_ image: KFCrossPlatformImage?, for state: ControlState)
}

/// A button with an image, which shows it when switched off or in both states, and another one for when it
/// is switched on.
///
/// Each of them is a slot of its own: loads of different slots are independent.
@MainActor public protocol KFCrossPlatformToggleButton: KingfisherHasImageComponent {
    /// The image of the button that is switched on.
    var alternateImage: KFCrossPlatformImage? { get set }
}

@MainActor extension KingfisherWrapper where Base: KFCrossPlatformButton {
    /// Loads the image of `source` and shows it as the image for a state.
    ///
    /// As `setImage(with:placeholder:options:progressBlock:completionHandler:)` of an image view, for
    /// this slot alone.
    @discardableResult
    public func setImage(
        with source: Source?, for state: ControlState, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
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
        with source: Source?, for state: ControlState, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
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
            options: options, progressBlock: progressBlock, completionHandler: completionHandler)
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
            options: options, progressBlock: nil, completionHandler: completionHandler)
    }

    /// Loads an image and shows it as the image for a state; see the form for sources.
    ///
    /// `parsedOptions` are all options of the load: the shared manager's default options do not apply.
    @discardableResult
    public func setImage(
        with source: Source?, for state: ControlState, placeholder: KFCrossPlatformImage? = nil,
        parsedOptions: KingfisherParsedOptionsInfo, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        load(
            source, into: .image(state), placeholder: placeholder, options: parsedOptions,
            progress: progressBlock, completion: completionHandler)
    }

    /// The number of the load the image for `state` waits for; `nil` when it waits for none.
    public func taskIdentifier(for state: ControlState) -> Source.Identifier.Value? {
        SlotTable.shared.runningLoader(of: base, .stateImage(state))?.taskIdentifier
    }

    /// Cancels what the images for all states wait for; that completes with errors.
    public func cancelImageDownloadTask() {
        SlotTable.shared.cancelLoads(of: base, where: \.isStateImage)
    }

    /// Cancels what the image for `state` waits for; that completes with an error.
    public func cancelImageDownloadTask(for state: ControlState) {
        SlotTable.shared.runningLoader(of: base, .stateImage(state))?.cancel()
    }

    /// Loads the image of `source` and shows it as the background for a state.
    ///
    /// As `setImage(with:placeholder:options:progressBlock:completionHandler:)` of an image view, for
    /// this slot alone.
    @discardableResult
    public func setBackgroundImage(
        with source: Source?, for state: ControlState, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, progressBlock: DownloadProgressBlock? = nil,
        completionHandler: ImageSettingCompletion? = nil
    ) -> DownloadTask? {
        load(
            source, into: .background(state), placeholder: placeholder,
            options: KingfisherParsedOptionsInfo(ofView: options), progress: progressBlock,
            completion: completionHandler)
    }

    /// Loads an image and shows it as the background for a state; see the form for sources.
    @discardableResult
    public func setBackgroundImage(
        with source: Source?, for state: ControlState, placeholder: KFCrossPlatformImage? = nil,
        options: KingfisherOptionsInfo? = nil, completionHandler: ImageSettingCompletion? = nil
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
            options: options, progressBlock: progressBlock, completionHandler: completionHandler)
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
            options: options, progressBlock: nil, completionHandler: completionHandler)
    }

    /// The number of the load the background for `state` waits for; `nil` when it waits for none.
    public func backgroundTaskIdentifier(for state: ControlState) -> Source.Identifier.Value? {
        SlotTable.shared.runningLoader(of: base, .stateBackground(state))?.taskIdentifier
    }

    /// Cancels what the backgrounds for all states wait for; that completes with errors.
    public func cancelBackgroundImageDownloadTask() {
        SlotTable.shared.cancelLoads(of: base, where: \.isStateBackground)
    }

    /// Cancels what the background for `state` waits for; that completes with an error.
    public func cancelBackgroundImageDownloadTask(for state: ControlState) {
        SlotTable.shared.runningLoader(of: base, .stateBackground(state))?.cancel()
    }
}

extension ImagePart where Holder: KFCrossPlatformButton {
    static func image(_ state: ControlState) -> Self {
        Self(
            slot: .stateImage(state), get: { $0.image(for: state) },
            set: { button, image, _ in button.setImage(image, for: state) })
    }

    static func background(_ state: ControlState) -> Self {
        Self(
            slot: .stateBackground(state), get: { $0.backgroundImage(for: state) },
            set: { button, image, _ in button.setBackgroundImage(image, for: state) })
    }
}

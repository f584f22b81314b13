public import Foundation

/// What `KFImage` and `KFAnimatedImage` have in common: the description of an image on a declarative
/// screen, which is a value.
@MainActor public protocol KFImageProtocol: KFOptionSetter {
    /// Everything said so far. Not shared with other descriptions.
    var context: KFImage.Context { get }

    /// A description with the content of `context`, which it takes over.
    init(context: KFImage.Context)
}

extension KFImageProtocol {
    /// An image at `url`; a file URL is read as a file.
    public init(_ url: URL?) {
        self.init(source: url?.convertToSource())
    }

    /// An image from `source`; `nil` is the failure `emptySource`.
    public init(source: Source?) {
        self.init(context: KFImage.Context(source: source))
    }

    /// An image from `source`.
    public static func source(_ source: Source?) -> Self {
        Self(source: source)
    }

    /// An image from `resource`; a file URL is read as a file.
    public static func resource(_ resource: (any Resource)?) -> Self {
        source(resource?.convertToSource())
    }

    /// An image at `url`; a file URL is read as a file.
    ///
    /// The image is cached under `cacheKey`, by default under the URL's own key.
    public static func url(_ url: URL?, cacheKey: String? = nil) -> Self {
        source(url?.convertToSource(overrideCacheKey: cacheKey))
    }

    /// An image whose bytes `provider` gives.
    public static func dataProvider(_ provider: (any ImageDataProvider)?) -> Self {
        source(provider?.convertToSource())
    }

    /// An image of which `data` is the file.
    public static func data(_ data: Data?, cacheKey: String) -> Self {
        dataProvider(data.map { RawImageDataProvider(data: $0, cacheKey: cacheKey) })
    }
}

extension KFImageProtocol {
    public var options: KingfisherParsedOptionsInfo {
        get { context.options }
        nonmutating set { context.options = newValue }
    }

    public var onFailureDelegate: Delegate<KingfisherError, Void> { context.onFailureDelegate }
    public var onSuccessDelegate: Delegate<RetrieveImageResult, Void> { context.onSuccessDelegate }
    public var onProgressDelegate: Delegate<(Int64, Int64), Void> { context.onProgressDelegate }

    public func copyForMutation() -> Self {
        Self(context: context.copy())
    }
}

extension KFImageProtocol {
    /// Adds something that is done to the view that shows the image.
    public func configure(_ block: @escaping (any KFCrossPlatformImageView) -> Void) -> Self {
        setting { $0.context.configurations.append(block) }
    }

    /// Sets what makes the view that stands on the screen of the one that shows the image.
    public func contentConfigure(
        _ block: @escaping (any KFCrossPlatformImageView) -> any KFCrossPlatformView
    ) -> Self {
        setting { $0.context.contentConfiguration = block }
    }

    /// Sets what makes the view that is seen until the image comes; it is given the progress, whose
    /// total is 0 until it is known.
    public func placeholder(
        _ content: @escaping (_ progress: Progress) -> any KFCrossPlatformView
    ) -> Self {
        setting { $0.context.placeholder = content }
    }

    /// Sets what makes the view that is seen until the image comes.
    public func placeholder(_ content: @escaping () -> any KFCrossPlatformView) -> Self {
        placeholder { _ in content() }
    }

    /// Sets what makes the view that is seen when loading has failed, in place of an `onFailureImage`.
    public func onFailureView(_ content: @escaping () -> any KFCrossPlatformView) -> Self {
        setting { $0.context.failureView = content }
    }

    /// Whether loading is cancelled when the view leaves the screen; it begins again when the view comes
    /// back.
    public func cancelOnDisappear(_ enabled: Bool) -> Self {
        setting { $0.context.cancelOnDisappear = enabled }
    }

    /// Whether loading begins as soon as the view is made, before it is on the screen.
    public func startLoadingBeforeViewAppear(_ enabled: Bool = true) -> Self {
        setting { $0.context.startLoadingBeforeViewAppear = enabled }
    }

    /// Lets the image fade in, unless it comes from a cache. Its place is made before that.
    ///
    /// - Parameter duration: In seconds.
    public func fade(duration: TimeInterval) -> Self {
        setting(\.transition, to: .fade(duration))
    }

    /// Whether the download becomes less urgent (0.25, unless it is that already) when the view
    /// leaves the screen; it becomes as urgent as before when the view comes back. Does nothing for
    /// a load that is cancelled then.
    public func reducePriorityOnDisappear(_ enabled: Bool) -> Self {
        setting { $0.context.reducePriorityOnDisappear = enabled }
    }

    /// Lets the image take the placeholder's place by `transition`, unless it comes from a cache. Wins
    /// over `fade`.
    ///
    /// `animation` is how the transition runs; with `nil` the image is there at once.
    public func loadTransition(
        _ transition: ImageTransition, animation: KFImage.Animation? = .default
    ) -> Self {
        setting {
            $0.context.loadTransition =
                animation.map { $0.applied(to: transition) } ?? ImageTransition.none
        }
    }
}

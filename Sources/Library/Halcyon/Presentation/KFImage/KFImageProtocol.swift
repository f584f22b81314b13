public import Foundation

/// The common interface of `KFImage` and `KFAnimatedImage`: the description of an image on a
/// declarative screen, which is a value.
@MainActor public protocol KFImageProtocol: KFOptionSetter {
    /// The content of the description. Not shared with other descriptions.
    var context: KFImage.Context { get }

    /// Creates a description with the content of `context`, which it takes over.
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

    /// An image with bytes from `provider`.
    public static func dataProvider(_ provider: (any ImageDataProvider)?) -> Self {
        source(provider?.convertToSource())
    }

    /// An image from the bytes of its file.
    public static func data(_ data: Data?, cacheKey: String) -> Self {
        dataProvider(data.map { RawImageDataProvider(data: $0, cacheKey: cacheKey) })
    }

    public var options: KingfisherParsedOptionsInfo {
        get { context.options }
        nonmutating set { context.options = newValue }
    }

    public var onFailureDelegate: Delegate<KingfisherError, Void> { context.onFailureDelegate }
    public var onSuccessDelegate: Delegate<RetrieveImageResult, Void> { context.onSuccessDelegate }
    public var onProgressDelegate: Delegate<(Int64, Int64), Void> { context.onProgressDelegate }

    public func copyForMutation() -> Self {
        Self(context: KFImage.Context(copying: context))
    }

    /// Adds a configuration block for the image's view.
    public func configure(_ block: @escaping (any KFCrossPlatformImageView) -> Void) -> Self {
        setting { $0.context.configurations.append(block) }
    }

    /// Sets the maker of the view on the screen from the image's view.
    public func contentConfigure(
        _ block: @escaping (any KFCrossPlatformImageView) -> any KFCrossPlatformView
    ) -> Self {
        setting { $0.context.contentConfiguration = block }
    }

    /// Sets the maker of the placeholder, shown until the image arrives; it receives the progress,
    /// whose total is 0 until it is known.
    public func placeholder(
        _ content: @escaping (_ progress: Progress) -> any KFCrossPlatformView
    ) -> Self {
        setting { $0.context.placeholder = content }
    }

    /// Sets the maker of the placeholder, shown until the image arrives.
    public func placeholder(_ content: @escaping () -> any KFCrossPlatformView) -> Self {
        placeholder { _ in content() }
    }

    /// Sets the maker of the view shown after a failure, in place of an `onFailureImage`.
    public func onFailureView(_ content: @escaping () -> any KFCrossPlatformView) -> Self {
        setting { $0.context.failureView = content }
    }

    /// Sets whether loading is cancelled when the view leaves the screen; it restarts when the view
    /// returns.
    public func cancelOnDisappear(_ enabled: Bool) -> Self {
        setting { $0.context.cancelOnDisappear = enabled }
    }

    /// Sets whether loading begins as soon as the view is made, before it is on the screen.
    public func startLoadingBeforeViewAppear(_ enabled: Bool = true) -> Self {
        setting { $0.context.startLoadingBeforeViewAppear = enabled }
    }

    /// Lets the image fade in, unless it comes from a cache. Its space is reserved before that.
    ///
    /// - Parameter duration: In seconds.
    public func fade(duration: TimeInterval) -> Self {
        setting(\.transition, to: .fade(duration))
    }

    /// Sets whether the priority of the download is lowered to at most 0.25 when the view leaves
    /// the screen; it is restored when the view returns. Has no effect on a load that is then
    /// cancelled.
    public func reducePriorityOnDisappear(_ enabled: Bool) -> Self {
        setting { $0.context.reducePriorityOnDisappear = enabled }
    }

    /// Replaces the placeholder by the image with `transition`, unless the image comes from a
    /// cache. Takes precedence over `fade`.
    ///
    /// `animation` is the timing of the transition; with `nil` the image appears at once.
    public func loadTransition(
        _ transition: ImageTransition, animation: KFImage.Animation? = .default
    ) -> Self {
        setting {
            $0.context.loadTransition =
                animation.map { $0.applied(to: transition) } ?? ImageTransition.none
        }
    }
}

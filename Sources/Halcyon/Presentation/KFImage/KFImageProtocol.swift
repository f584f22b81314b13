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

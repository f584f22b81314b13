public import Foundation

/// The description of an image on a declarative screen: what to load, how, and what to show meanwhile.
///
/// A value: each modifier gives a new description and leaves the old one as it was. An `ImageBinder`
/// loads what it describes, and a `KFImageRenderer` draws that.
@MainActor public struct KFImage {
    /// Everything said so far. Not shared with other descriptions.
    public private(set) var context: Context

    /// An image at `url`; a file URL is read as a file.
    public init(_ url: URL?) {
        self.init(source: url?.convertToSource())
    }

    /// An image from `source`; `nil` is the failure `emptySource`.
    public init(source: Source?) {
        context = Context(source: source)
    }

    /// An image from `source`.
    public static func source(_ source: Source?) -> KFImage {
        KFImage(source: source)
    }

    /// An image from `resource`; a file URL is read as a file.
    public static func resource(_ resource: (any Resource)?) -> KFImage {
        source(resource?.convertToSource())
    }

    /// An image at `url`; a file URL is read as a file.
    ///
    /// - Parameter cacheKey: The key the image is cached under; the URL's own by default.
    public static func url(_ url: URL?, cacheKey: String? = nil) -> KFImage {
        source(url?.convertToSource(overrideCacheKey: cacheKey))
    }

    /// An image whose bytes `provider` gives.
    public static func dataProvider(_ provider: (any ImageDataProvider)?) -> KFImage {
        source(provider?.convertToSource())
    }

    /// An image of which `data` is the file.
    public static func data(_ data: Data?, cacheKey: String) -> KFImage {
        dataProvider(data.map { RawImageDataProvider(data: $0, cacheKey: cacheKey) })
    }
}

extension KFImage: @MainActor KFOptionSetter {
    public var options: KingfisherParsedOptionsInfo {
        get { context.options }
        nonmutating set { context.options = newValue }
    }

    public var onFailureDelegate: Delegate<KingfisherError, Void> { context.onFailureDelegate }
    public var onSuccessDelegate: Delegate<RetrieveImageResult, Void> { context.onSuccessDelegate }
    public var onProgressDelegate: Delegate<(Int64, Int64), Void> { context.onProgressDelegate }

    public func copyForMutation() -> KFImage {
        var copy = self
        copy.context = context.copy()
        return copy
    }
}

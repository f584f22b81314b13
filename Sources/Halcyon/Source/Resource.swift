public import Foundation

/// An image on the network (or in a local file): where it is and under which key it is cached.
public protocol Resource: Sendable {
    /// The key the image is cached under.
    var cacheKey: String { get }
    /// Where the image is loaded from.
    var downloadURL: URL { get }
}

extension Resource {
    /// A file URL becomes a local-file provider, anything else a network source.
    public func convertToSource(overrideCacheKey: String? = nil) -> Source {
        let key = overrideCacheKey ?? cacheKey
        return downloadURL.isFileURL
            ? .provider(LocalFileImageDataProvider(fileURL: downloadURL, cacheKey: key))
            : .network(KF.ImageResource(downloadURL: downloadURL, cacheKey: key))
    }
}

/// The namespace of the builder and its values.
///
/// A builder collects the options of a request and sets the image of a view:
///
/// ```swift
/// KF.url(url)
///     .targetCache(cache)
///     .downsampling(size: CGSize(width: 32, height: 32))
///     .roundCorner(radius: .widthFraction(0.5))
///     .onSuccess { result in report(.success(result)) }
///     .onFailure { error in report(.failure(error)) }
///     .set(to: imageView)
/// ```
public enum KF {}

extension KF {
    /// A URL with a cache key.
    public struct ImageResource: Resource {
        public let cacheKey: String
        public let downloadURL: URL

        /// Without `cacheKey`, the key is the URL's own (see `URL`'s `cacheKey`).
        public init(downloadURL: URL, cacheKey: String? = nil) {
            self.downloadURL = downloadURL
            self.cacheKey = cacheKey ?? downloadURL.cacheKey
        }
    }
}

/// The old name of `KF.ImageResource`.
@available(*, deprecated, renamed: "KF.ImageResource")
public typealias ImageResource = KF.ImageResource

extension URL: Resource {
    /// The absolute string; for a file URL its path from the application bundle on (or the whole
    /// path), so that it survives a move of the bundle.
    public var cacheKey: String { isFileURL ? localFileCacheKey : absoluteString }
    public var downloadURL: URL { self }
}

extension URL {
    /// The key of a local file: its path components from the innermost `.app` or `.appex` on.
    var localFileCacheKey: String {
        var components: [String] = []
        for component in pathComponents.reversed() {
            components.insert(component, at: 0)
            if component.hasSuffix(".app") || component.hasSuffix(".appex") { break }
        }
        let path = components.joined(separator: "/")
        let suffix = query.map { "?\($0)" } ?? ""
        return "kingfisher.local.cacheKey/\(path)\(suffix)"
    }
}

public import Foundation
import HalcyonWork

/// Where an image comes from.
public enum Source: Sendable {
    /// An image downloaded over HTTP.
    case network(any Resource)
    /// An image whose bytes a provider gives.
    case provider(any ImageDataProvider)

    /// The numbers that tell a view's tasks apart.
    public enum Identifier {
        public typealias Value = UInt

        @MainActor private static var current: Value = 0

        /// The next number; the first one is 1.
        @MainActor static func next() -> Value {
            current += 1
            return current
        }
    }

    /// The key the image is cached under.
    public var cacheKey: String {
        switch self {
        case .network(let resource): resource.cacheKey
        case .provider(let provider): provider.cacheKey
        }
    }

    /// The URL the image is loaded from, when it has one.
    public var url: URL? {
        switch self {
        case .network(let resource): resource.downloadURL
        case .provider(let provider): provider.contentURL
        }
    }
}

extension Source: Hashable {
    /// Equal when both are of one kind, with equal key and URL.
    public static func == (lhs: Source, rhs: Source) -> Bool {
        switch (lhs, rhs) {
        case (.network, .network), (.provider, .provider):
            lhs.cacheKey == rhs.cacheKey && lhs.url == rhs.url
        case (.network, .provider), (.provider, .network):
            false
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(cacheKey)
        hasher.combine(url)
    }
}

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
        let url = downloadURL
        guard url.isOfFile else {
            let key = overrideCacheKey ?? cacheKey
            return .network(KF.ImageResource(downloadURL: url, cacheKey: key))
        }
        var ownKey = overrideCacheKey
        if ownKey == nil, !(self is URL), case let key = cacheKey, !url.isFileCacheKey(key) {
            ownKey = key
        }
        return .provider(LocalFileImageDataProvider(fileURL: url, cacheKey: ownKey))
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
    /// path), so that it survives a move of the bundle, with size and date of the file that is there.
    public var cacheKey: String { isOfFile ? localFileCacheKey : absoluteString }
    public var downloadURL: URL { self }
}

extension URL {
    /// Whether it names a local file: what `isFileURL` says, which makes a text of the scheme each time; a
    /// request asks three times.
    fileprivate var isOfFile: Bool {
        guard baseURL == nil else { return isFileURL }
        // In any case of letters.
        return absoluteString.utf8.prefix(5).elementsEqual("file:".utf8) { $0 | 0x20 == $1 }
    }

    /// The key of a local file: its path components from the innermost `.app` or `.appex` on, and the version
    /// of the file, so that a file that has changed is another image.
    var localFileCacheKey: String {
        fileCacheKeyWithoutVersion + (FileVersion(of: self)?.suffix ?? "")
    }

    /// Whether a key is the one that the file has, or had, by itself.
    fileprivate func isFileCacheKey(_ key: String) -> Bool {
        let plain = fileCacheKeyWithoutVersion
        return key == plain || key.hasPrefix("\(plain)?size=")
    }

    private var fileCacheKeyWithoutVersion: String {
        let suffix = query.map { "?\($0)" } ?? ""
        if let path = FilePath(self), path.text == nil {
            // Foundation has no components for it. No other key begins so.
            let encoded = PercentEncoding.encode(path.bytes, keeping: "/")
            return "kingfisher.local.cacheKey/%\(encoded)\(suffix)"
        }
        var components: [String] = []
        for component in pathComponents.reversed() {
            components.insert(component, at: 0)
            if component.hasSuffix(".app") || component.hasSuffix(".appex") { break }
        }
        return "kingfisher.local.cacheKey/\(components.joined(separator: "/"))\(suffix)"
    }
}

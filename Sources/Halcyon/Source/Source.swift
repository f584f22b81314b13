public import Foundation

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

import Foundation
import HalcyonWork

/// Look-ups of a subclass, by the methods that it may override.
extension ImageCache {
    /// Whether overridden methods have to be asked: the class itself is used without detours.
    var isSubclass: Bool { type(of: self) != ImageCache.self }

    /// The look-up of a subclass, by the method that it may override.
    func overriddenLookup(
        _ key: ImageKey, options: KingfisherParsedOptionsInfo, isCurrent: (@Sendable () -> Bool)?
    ) async throws(KingfisherError) -> ImageCacheResult {
        guard isCurrent?() ?? true else { return .none }
        let result: Result<ImageCacheResult, KingfisherError> = await handedOver { hand in
            retrieveImage(
                forKey: key.source, options: options, callbackQueue: .untouch,
                completionHandler: hand)
        }
        return try result.get()
    }

    /// The look-up of a subclass on disk.
    func overriddenDiskLookup(
        _ key: String, options: KingfisherOptionsInfo?
    ) async -> Result<KFCrossPlatformImage?, KingfisherError> {
        await handedOver { hand in
            retrieveImageInDiskCache(
                forKey: key, options: options, callbackQueue: .untouch, completionHandler: hand)
        }
    }

    /// Whether a subclass has an image in memory. The expiration stays as it is.
    func hasInMemoryByOverride(_ key: String, processorIdentifier: String) -> Bool {
        var options = Self.storeOptions(
            processorIdentifier: processorIdentifier, forcedExtension: nil,
            serializer: DefaultCacheSerializer.default)
        options.memoryCacheAccessExtendingExpiration = .none
        return retrieveImageInMemoryCache(forKey: key, options: options) != nil
    }
}

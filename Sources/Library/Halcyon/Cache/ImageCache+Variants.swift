import Foundation
import HalcyonWork

extension ImageCache {
    /// Removes an image and all that processors have made of it, whatever the processors, and returns when that
    /// is done.
    ///
    /// From disk as far as the index knows what its files are: not of files that were found when a lost index
    /// was made again. From the storage that machines share, what the processors have made that this cache
    /// knows. In memory a key that begins with this one and `@` counts as one of them.
    /// - Throws: `KingfisherError`, 3004, when the index cannot be read; the error of the file system when the
    ///   file of the original could not be removed.
    public func removeImages(
        forKey key: String, forcedExtension: String? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        try await startRemovingVariants(
            of: key, forcedExtension: forcedExtension, fromMemory: fromMemory, fromDisk: fromDisk
        )?.value.get()
    }

    /// Removes the image of a source and all that processors have made of it; see the form for keys.
    ///
    /// - Parameter options: What was said of its key: `cacheKeyNormalizer` and `forcedCacheFileExtension`.
    public func removeImages(
        of source: Source, options: KingfisherOptionsInfo? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        let options = KingfisherParsedOptionsInfo(options)
        try await removeImages(
            forKey: options.cacheKey(of: source), forcedExtension: options.forcedExtension,
            fromMemory: fromMemory, fromDisk: fromDisk)
    }

    /// Removes the image of a resource and all that processors have made of it; see the form for keys.
    public func removeImages(
        of resource: any Resource, options: KingfisherOptionsInfo? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true
    ) async throws {
        try await removeImages(
            of: resource.convertToSource(), options: options, fromMemory: fromMemory,
            fromDisk: fromDisk)
    }

    /// Removes an image and all that processors have made of it from memory before this returns, and from disk
    /// afterwards. Failures of the disk are not reported; the asynchronous form throws them.
    public func removeImages(
        forKey key: String, forcedExtension: String? = nil, fromMemory: Bool = true,
        fromDisk: Bool = true, callbackQueue: CallbackQueue = .untouch,
        completionHandler: (@Sendable () -> Void)?
    ) {
        let removal = startRemovingVariants(
            of: key, forcedExtension: forcedExtension, fromMemory: fromMemory, fromDisk: fromDisk)
        guard let completionHandler else { return }
        Task {
            _ = await removal?.value
            callbackQueue.execute(completionHandler)
        }
    }
}
